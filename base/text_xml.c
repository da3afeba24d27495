/* SPDX-License-Identifier: MIT */
#include "base/text.h"

static bool is_xml_character(uint32_t code)
{
	return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code <= 0xd7ff) ||
	       (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}

void text_add_xml(struct text *text, const char *data, size_t size)
{
	static const char *const entities[] = {['"'] = "&quot;",
					       ['&'] = "&amp;",
					       ['\''] = "&apos;",
					       ['<'] = "&lt;",
					       ['>'] = "&gt;"};
	for (size_t i = 0; i < size;) {
		uint32_t code = 0;
		size_t length = text_character(data + i, size - i, &code);
		if (length == 0 || !is_xml_character(code))
			text_add(text, "\xef\xbf\xbd");
		else if (code < sizeof(entities) / sizeof(entities[0]) && entities[code] != NULL)
			text_add(text, entities[code]);
		else if (text_is_hazardous(code) && code != '\t' && code != '\n')
			text_addf(text, "&#x%x;", (unsigned)code);
		else
			text_append(text, data + i, length);
		i += length != 0 ? length : 1;
	}
}
