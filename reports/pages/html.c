/* SPDX-License-Identifier: MIT */
#include "reports/pages/html.h"

#include <stdlib.h>
#include <string.h>

void html_text_part(struct text *out, const char *string, size_t size)
{
	size_t begin = 0;
	for (size_t i = 0; i < size;) {
		uint32_t code = 0;
		size_t length = text_character(string + i, size - i, &code);
		if (length != 0 && code >= 0x7f && text_is_hazardous(code)) {
			text_add_xml(out, string + begin, i - begin);
			text_addf(out, "U+%04X", (unsigned)code);
			begin = i + length;
		}
		i += length != 0 ? length : 1;
	}
	text_add_xml(out, string + begin, size - begin);
}

void html_text(struct text *out, const char *string)
{
	if (string != NULL)
		html_text_part(out, string, strlen(string));
}

static void add_string(struct text *out, const char *string)
{
	const size_t size = strlen(string);
	const size_t shown = text_fit(string, size, HTML_STRING_MAX);
	html_text_part(out, string, shown);
	text_add(out, shown < size ? "…" : "");
}

/* The conversion behind a '%'. Returns what follows it. */
static const char *add_value(struct text *out, const char *conversion, va_list *args)
{
	const char *string = NULL;
	char *end = NULL;
	size_t most = 0;
	switch (*conversion) {
	case 's':
		string = va_arg(*args, const char *);
		add_string(out, string != NULL ? string : "");
		return conversion + 1;
	case '.':
		most = strtoul(conversion + 1, &end, 10);
		string = va_arg(*args, const char *);
		html_text_part(out, string, text_fit(string, strlen(string), most));
		return end + strlen("s");
	case 'd':
		text_addf(out, "%d", va_arg(*args, int));
		return conversion + strlen("d");
	case 'u':
		text_addf(out, "%u", va_arg(*args, unsigned));
		return conversion + strlen("u");
	case 'z':
		text_addf(out, "%zu", va_arg(*args, size_t));
		return conversion + strlen("zu");
	default:
		text_addf(out, "%lld", va_arg(*args, long long));
		return conversion + strlen("lld");
	}
}

void html_addf(struct text *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	for (const char *at = format; *at != '\0';) {
		const size_t plain = strcspn(at, "%");
		text_append(out, at, plain);
		at += plain;
		if (*at == '%')
			at = add_value(out, at + 1, &args);
	}
	va_end(args);
}

void html_add_text(struct text *out, const struct text *text)
{
	add_string(out, text_string(text));
	out->failed = out->failed || text->failed;
}

static bool is_plain(unsigned char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= 'a' && byte <= 'z') || byte == '.' || byte == '_' || byte == '-';
}

static void add_encoded(struct text *out, const char *string, char mark, const char *also)
{
	for (const char *c = string; *c != '\0'; c++) {
		if (is_plain((unsigned char)*c) || strchr(also, *c) != NULL)
			text_append(out, c, 1);
		else
			text_addf(out, "%c%02X", mark, (unsigned)(unsigned char)*c);
	}
}

void html_add_id(struct text *out, const char *prefix, const char *string)
{
	text_add(out, prefix);
	add_encoded(out, string, '~', "");
}

void html_open_link(struct text *out, const char *class, const char *address, const char *prefix,
		    const char *id)
{
	text_add(out, "<a");
	if (class != NULL)
		text_addf(out, " class=\"%s\"", class);
	text_addf(out, " href=\"%s", address);
	if (id != NULL) {
		text_add(out, "#");
		html_add_id(out, prefix, id);
	}
	text_add(out, "\">");
}

/* No absolute path of any system, and no segment that leads up. */
static bool is_below(const char *path)
{
	if (*path == '\0' || *path == '/' || strpbrk(path, "\\:") != NULL)
		return false;
	for (const char *segment = path; segment != NULL;) {
		size_t size = strcspn(segment, "/");
		if (size == 0 || (size <= 2 && strspn(segment, ".") >= size))
			return false;
		segment = segment[size] == '/' ? segment + size + 1 : NULL;
	}
	return true;
}

void html_file_link(struct text *out, const char *path, const char *string)
{
	if (!is_below(path)) {
		html_text(out, string);
		return;
	}
	text_add(out, "<a href=\"");
	add_encoded(out, path, '%', "~/");
	html_addf(out, "\">%s</a>", string);
}

void html_web_link(struct text *out, const char *address, const char *string)
{
	if (!text_starts_with(address, "https://") && !text_starts_with(address, "http://")) {
		html_text(out, string);
		return;
	}
	text_add(out, "<a href=\"");
	html_text(out, address);
	html_addf(out, "\" rel=\"noopener noreferrer\">%s</a>", string);
}
