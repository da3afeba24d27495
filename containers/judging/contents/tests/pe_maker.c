/* SPDX-License-Identifier: MIT */
#include "containers/judging/contents/tests/pe_maker.h"

#include <string.h>

enum { NEW_HEADER = 64, OPTIONAL_SIZE = 240, MEMORY = 0x1000, RESOURCES = 256 };

static void put(unsigned char *at, uint32_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static void directory(unsigned char *at, uint32_t id, uint32_t leads_to)
{
	put(at + 14, 1, 2);
	put(at + 16, id, 4);
	put(at + 20, leads_to, 4);
}

void pe_make(const uint16_t version[4], size_t gap, struct text *out)
{
	unsigned char headers[NEW_HEADER + 24 + OPTIONAL_SIZE + 40] = "MZ";
	unsigned char resources[RESOURCES] = {0};
	unsigned char *coff = headers + NEW_HEADER;
	unsigned char *optional = coff + 24;
	unsigned char *section = optional + OPTIONAL_SIZE;
	const uint32_t place = (uint32_t)(sizeof(headers) + gap);
	put(headers + 60, NEW_HEADER, 4);
	memcpy(coff, "PE\0", 4);
	put(coff + 6, 1, 2);
	put(coff + 20, OPTIONAL_SIZE, 2);
	put(optional, 0x20b, 2);
	put(optional + 112 + 16, MEMORY, 4);
	put(optional + 112 + 20, sizeof(resources), 4);
	memcpy(section, ".rsrc", sizeof(".rsrc"));
	put(section + 8, sizeof(resources), 4);
	put(section + 12, MEMORY, 4);
	put(section + 16, sizeof(resources), 4);
	put(section + 20, place, 4);
	directory(resources, 16, 0x80000000U | 24);
	directory(resources + 24, 1, 0x80000000U | 48);
	directory(resources + 48, 1033, 72);
	put(resources + 72, MEMORY + 96, 4);
	put(resources + 76, 92, 4);
	put(resources + 96 + 40, 0xfeef04bd, 4);
	for (size_t i = 0; i < 4; i++)
		put(resources + 96 + 40 + (size_t[]){10, 8, 14, 12}[i], version[i], 2);
	text_reset(out);
	text_append(out, (const char *)headers, sizeof(headers));
	for (size_t i = 0; i < gap; i++)
		text_append(out, "x", 1);
	text_append(out, (const char *)resources, sizeof(resources));
}
