/* SPDX-License-Identifier: MIT */
#include "reports/page/html.h"

#include <string.h>

/* DEL and the C1 controls; marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm. */
static bool misleads(uint32_t code)
{
	return (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

void html_text_part(struct text *out, const char *string, size_t size)
{
	size_t begin = 0;
	for (size_t i = 0; i < size;) {
		uint32_t code = 0;
		size_t length = text_character(string + i, size - i, &code);
		if (length != 0 && misleads(code)) {
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

void html_textf(struct text *out, const char *format, ...)
{
	struct text plain CLEANUP_TEXT = {0};
	va_list args;
	va_start(args, format);
	text_vaddf(&plain, format, args);
	va_end(args);
	out->failed = out->failed || plain.failed;
	html_text_part(out, text_string(&plain), plain.size);
}

void html_attribute(struct text *out, const char *name, const char *value)
{
	if (value == NULL)
		return;
	text_addf(out, " %s=\"", name);
	html_text(out, value);
	text_add(out, "\"");
}

void html_open(struct text *out, const char *tag, ...)
{
	va_list args;
	text_addf(out, "<%s", tag);
	va_start(args, tag);
	for (const char *name = va_arg(args, const char *); name != NULL;
	     name = va_arg(args, const char *))
		html_attribute(out, name, va_arg(args, const char *));
	va_end(args);
	text_add(out, ">");
}

void html_close(struct text *out, const char *tag)
{
	text_addf(out, "</%s>\n", tag);
}

void html_element(struct text *out, const char *tag, const char *class, const char *string)
{
	html_open(out, tag, "class", class, NULL);
	html_text(out, string);
	text_addf(out, "</%s>", tag);
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
	text_add(out, "\">");
	html_text(out, string);
	text_add(out, "</a>");
}

void html_web_link(struct text *out, const char *address, const char *string)
{
	bool is_web = text_starts_with(address, "https://") || text_starts_with(address, "http://");
	if (!is_web) {
		html_text(out, string);
		return;
	}
	html_open(out, "a", "href", address, "rel", "noopener noreferrer", NULL);
	html_text(out, string);
	text_add(out, "</a>");
}
