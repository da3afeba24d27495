/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Values of the CopyToVm keys, by which a driver names the files that a container needs
 * (windows-driver-docs, display/container-non-dx.md): REG_MULTI_SZ of one or two strings, or
 * REG_SZ. The first string is a path relative to the driver's folder in the driver store, which may
 * have subfolders; the second is the name of the file in the container, by default the last part of
 * the first. The bytes come from a driver's installation and are not trusted.
 */

#include "base/error.h"
#include "discovery/windows/adapter.h"

enum { COPY_TO_VM_KEY_COUNT = 4 };

struct copy_to_vm_key {
	const char *name;
	unsigned bits;	       /* 64: System32, 32: SysWOW64 */
	const char *directory; /* "C:\Windows\System32" */
};

/* Earlier keys claim destinations first. */
extern const struct copy_to_vm_key copy_to_vm_keys[COPY_TO_VM_KEY_COUNT];

/* NULL: no such key. */
const struct copy_to_vm_key *copy_to_vm_find_key(const char *name);

struct copy_to_vm_file {
	char *source;	   /* with backslashes, without "..": "sub\nvcuda64.dll" */
	char *destination; /* "nvcuda.dll" */
};

/* ERROR_FORMAT names the defect of the value; ERROR_MEMORY. Free with copy_to_vm_file_free().
 */
int copy_to_vm_parse(uint32_t type, const uint8_t *data, size_t size, struct copy_to_vm_file *out,
		     struct error *err);
void copy_to_vm_file_free(struct copy_to_vm_file *file);
