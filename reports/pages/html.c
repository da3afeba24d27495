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

void html_addf(struct text *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	for (const char *at = format; *at != '\0';) {
		const size_t plain = strcspn(at, "%");
		const char *string = NULL;
		char *end = NULL;

		text_append(out, at, plain);
		at += plain;
		if (*at == '\0')
			break;
		switch (*++at) {
		case 's':
			string = va_arg(args, const char *);
			add_string(out, string != NULL ? string : "");
			at += strlen("s");
			break;
		case '.': {
			const size_t most = strtoul(at + 1, &end, 10);
			string = va_arg(args, const char *);
			html_text_part(out, string, text_fit(string, strlen(string), most));
			at = end + strlen("s");
			break;
		}
		case 'd':
			text_addf(out, "%d", va_arg(args, int));
			at += strlen("d");
			break;
		case 'u':
			text_addf(out, "%u", va_arg(args, unsigned));
			at += strlen("u");
			break;
		case 'z':
			text_addf(out, "%zu", va_arg(args, size_t));
			at += strlen("zu");
			break;
		default:
			text_addf(out, "%lld", va_arg(args, long long));
			at += strlen("lld");
		}
	}
	va_end(args);
}

/* Letters, digits, '.', '_', '-' and those of `also` as they are; any other byte in hex after the mark. */
static void add_encoded(struct text *out, const char *string, char mark, const char *also)
{
	for (const char *c = string; *c != '\0'; c++) {
		if ((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= 'a' && *c <= 'z') || strchr("._-", *c) != NULL ||
		    strchr(also, *c) != NULL)
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
