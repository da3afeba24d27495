/* SPDX-License-Identifier: MIT */
#pragma once

/* Where libraries are looked for: elf_search.c, used by elf_closure.c. */

#include "base/arena.h"
#include "base/elf.h"

struct elf_search {
	struct arena arena;	     /* of everything that the closure holds */
	char *root;		     /* "": the running system */
	struct text_list configured; /* directories of ld.so.conf */
	struct elf_known **known;    /* what was read of each file */
	size_t known_count;
};

/* A file that has been read, once however many names lead to it. Never moves. */
struct elf_known {
	const char *source;   /* root prefix included */
	const char *resolved; /* without it */
	struct elf_info info;
	bool valid; /* an ELF file */
};

int elf_search_open(const char *root, struct elf_search **out, struct error *err);
void elf_search_free(struct elf_search *search);

/* The file at an absolute path; borrowed. ERROR_NOT_FOUND, or why it is not an ELF file. */
int elf_search_file(struct elf_search *search, const char *path, const struct elf_known **out,
		    struct error *err);

/* The first file of that name in a list of directories (tokens expanded with `origin`) that matches the
 * bits and machine of `fits`; *destination is the path where it was found. ERROR_NOT_FOUND: none. */
int elf_search_directories(struct elf_search *search, const struct text_list *directories,
			   const char *origin, const char *name, const struct elf_info *fits,
			   const struct elf_known **out, char **destination, struct error *err);

/* The directories that the loader searches by default on this machine. */
void elf_default_directories(const struct elf_info *info, struct text_list *out);

/* "$ORIGIN/../lib" and "${ORIGIN}/../lib" with the directory substituted, $LIB with the machine's.
 * NULL for an entry with another token, whose value is unknown. Caller frees. */
char *elf_expand(const char *entry, const char *origin, const struct elf_info *info);
