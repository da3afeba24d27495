/* SPDX-License-Identifier: MIT */
#include "base/tests/elf_maker.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { MAKER_ENTRIES_MAX = 16 };

struct maker {
	struct text strings;
	struct {
		int64_t tag;
		uint64_t value;
	} entries[MAKER_ENTRIES_MAX];
	size_t count;
};

static void maker_entry(struct maker *maker, int64_t tag, uint64_t value)
{
	maker->entries[maker->count].tag = tag;
	maker->entries[maker->count++].value = value;
}

static void maker_string(struct maker *maker, int64_t tag, const char *string)
{
	if (string == NULL)
		return;
	maker_entry(maker, tag, maker->strings.size);
	text_append(&maker->strings, string, strlen(string) + 1);
}

static void maker_header(const struct elf_recipe *recipe, uint16_t segments, struct text *out)
{
	unsigned char identity[EI_NIDENT] = {ELFMAG0,	 ELFMAG1,     ELFMAG2,	 ELFMAG3,
					     ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
	Elf64_Ehdr wide = {.e_type = ET_DYN, .e_machine = recipe->machine, .e_version = EV_CURRENT};
	Elf32_Ehdr narrow = {
		.e_type = ET_DYN, .e_machine = recipe->machine, .e_version = EV_CURRENT};
	if (recipe->bits == 64) {
		memcpy(wide.e_ident, identity, sizeof(identity));
		wide.e_phoff = sizeof(wide);
		wide.e_phnum = segments;
		wide.e_phentsize = sizeof(Elf64_Phdr);
		text_append(out, (const char *)&wide, sizeof(wide));
		return;
	}
	identity[EI_CLASS] = ELFCLASS32;
	memcpy(narrow.e_ident, identity, sizeof(identity));
	narrow.e_phoff = sizeof(narrow);
	narrow.e_phnum = segments;
	narrow.e_phentsize = sizeof(Elf32_Phdr);
	text_append(out, (const char *)&narrow, sizeof(narrow));
}

static void maker_segment(unsigned bits, uint32_t type, size_t offset, size_t size,
			  struct text *out)
{
	Elf64_Phdr wide = {.p_type = type, .p_offset = offset, .p_vaddr = offset, .p_filesz = size};
	Elf32_Phdr narrow = {.p_type = type,
			     .p_offset = (uint32_t)offset,
			     .p_vaddr = (uint32_t)offset,
			     .p_filesz = (uint32_t)size};
	if (bits == 64)
		text_append(out, (const char *)&wide, sizeof(wide));
	else
		text_append(out, (const char *)&narrow, sizeof(narrow));
}

static void maker_dynamic(const struct maker *maker, unsigned bits, struct text *out)
{
	for (size_t i = 0; i < maker->count; i++) {
		Elf64_Dyn wide = {.d_tag = maker->entries[i].tag,
				  .d_un.d_val = maker->entries[i].value};
		Elf32_Dyn narrow = {.d_tag = (int32_t)maker->entries[i].tag,
				    .d_un.d_val = (uint32_t)maker->entries[i].value};
		if (bits == 64)
			text_append(out, (const char *)&wide, sizeof(wide));
		else
			text_append(out, (const char *)&narrow, sizeof(narrow));
	}
}

void elf_make(const struct elf_recipe *recipe, struct text *out)
{
	struct maker maker = {0};
	bool wide = recipe->bits == 64;
	uint16_t segments = recipe->interpreter != NULL ? 3 : 2;
	size_t headers = (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) +
			 segments * (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	size_t interpreter = recipe->interpreter != NULL ? strlen(recipe->interpreter) + 1 : 0;
	size_t dynamic = 0;
	size_t place = headers + interpreter;
	text_append(&maker.strings, "", 1);
	for (size_t i = 0; i < 4 && recipe->needed[i] != NULL; i++)
		maker_string(&maker, DT_NEEDED, recipe->needed[i]);
	maker_string(&maker, DT_SONAME, recipe->soname);
	maker_string(&maker, DT_RPATH, recipe->rpath);
	maker_string(&maker, DT_RUNPATH, recipe->runpath);
	if (recipe->no_default_directories)
		maker_entry(&maker, DT_FLAGS_1, DF_1_NODEFLIB);
	dynamic = (maker.count + 3) * (wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn));
	maker_entry(&maker, DT_STRTAB, place + dynamic);
	maker_entry(&maker, DT_STRSZ, maker.strings.size);
	maker_entry(&maker, DT_NULL, 0);
	text_reset(out);
	maker_header(recipe, segments, out);
	maker_segment(recipe->bits, PT_LOAD, 0, place + dynamic + maker.strings.size, out);
	maker_segment(recipe->bits, PT_DYNAMIC, place, dynamic, out);
	if (recipe->interpreter != NULL) {
		maker_segment(recipe->bits, PT_INTERP, headers, interpreter, out);
		text_append(out, recipe->interpreter, interpreter);
	}
	maker_dynamic(&maker, recipe->bits, out);
	text_append(out, maker.strings.data, maker.strings.size);
	text_free(&maker.strings);
}
