/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the dynamic loader would load, without running anything: a reader of ELF files, and the
 * closure of the shared libraries that a program or library needs.
 *
 *	struct elf_closure *closure CLEANUP(elf_closure_cleanup) = NULL;
 *	elf_closure_new(NULL, &closure, &err);
 *	elf_closure_add(closure, "/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so", &err);
 *	for (size_t i = 0; i < closure->file_count; i++)
 *		mount(closure->files[i].source, closure->files[i].destination);
 *
 * Files are untrusted: only headers, the dynamic section and the strings it names are read, each
 * within a bound; nothing is mapped. Rules: the System V ABI (gABI, chapters 4 and 5) and ld.so(8).
 */

#include "base/byte_source.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	ELF_PROGRAM_HEADERS_MAX = 1024,
	ELF_DYNAMIC_SIZE_MAX = 1024 * 1024, /* bytes */
	ELF_STRING_MAX = 4096,		    /* bytes, the NUL included */
	ELF_NEEDED_MAX = 1024,
	ELF_VERSIONS_MAX = 4096, /* symbol versions that a file needs */
	ELF_CLOSURE_MAX = 4096,	 /* files */
};

struct elf_info {
	unsigned bits;	   /* 64 or 32 */
	unsigned machine;  /* EM_X86_64, ... of <elf.h> */
	char *interpreter; /* PT_INTERP; NULL without one: a library or a static program */
	char *soname;	   /* NULL without one */
	struct text_list needed;
	struct text_list rpath, runpath; /* directories, tokens such as $ORIGIN not expanded */
	bool no_default_directories;	 /* DF_1_NODEFLIB */
	unsigned x86_level; /* the x86-64 level that its note requires, 1 to 4; 0: no such note */
	char *glibc; /* newest glibc whose symbols it needs (DT_VERNEED): "2.34"; NULL: none */
};

/* Reads a file. ERROR_FORMAT: not ELF, or broken; ERROR_LIMIT: beyond a bound above;
 * ERROR_UNSUPPORTED: big-endian; every error names the path. Free with elf_info_free(). */
int elf_read(const char *path, struct elf_info *out, struct error *err);

/* As elf_read(), from a source; its errors come back as they are. */
int elf_read_from(const struct byte_source *source, struct elf_info *out, struct error *err);

void elf_info_free(struct elf_info *info);

struct elf_file {
	const char *source; /* on the node, symbolic links resolved, the root prefix included */
	const char *destination; /* where the loader looks for it, without the root prefix */
	unsigned bits;		 /* 64 or 32 */
};

struct elf_missing {
	const char *name;      /* as in DT_NEEDED or PT_INTERP */
	const char *needed_by; /* destination of the file that needs it */
};

/* No two files have the same destination. Each object comes after the one that first needed it. */
struct elf_closure {
	struct elf_file *files;
	size_t file_count;
	struct elf_missing *missing;
	size_t missing_count;
	struct elf_search *search; /* private */
};

/* An empty closure for a node whose files are below `root` (NULL: the running system). Reads its
 * /etc/ld.so.conf; a missing one is fine. */
int elf_closure_new(const char *root, struct elf_closure **out, struct error *err);

/*
 * Adds a file (absolute path, without the root), its interpreter and, breadth first, what they need:
 * names are looked up in DT_RPATH of the file and of those that led to it, DT_RUNPATH, the directories
 * of ld.so.conf and the default ones of the machine, and must be of the same machine. LD_LIBRARY_PATH
 * and glibc-hwcaps are ignored. Names that are found nowhere are added to `missing`; that is not an
 * error. Each call models a new process: it shares no loaded names with earlier calls.
 * ERROR_NOT_FOUND, ERROR_FORMAT for the file itself; ERROR_LIMIT beyond ELF_CLOSURE_MAX.
 */
int elf_closure_add(struct elf_closure *closure, const char *path, struct error *err);

/* Finds a library by its bare name, as dlopen() in a program of this machine's architecture does:
 * the directories of ld.so.conf, then the default ones. *path is without the root; caller frees.
 * ERROR_NOT_FOUND. */
int elf_closure_find(struct elf_closure *closure, const char *name, char **path, struct error *err);

void elf_closure_cleanup(struct elf_closure **closure); /* for CLEANUP() */
