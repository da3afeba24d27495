/* SPDX-License-Identifier: MIT */
#include "discovery/windows/copy_to_vm.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/utf16.h"
#include "base/windows_path.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_SZ = 1, TYPE_MULTI_SZ = 7, STRINGS_MAX = 2 };

const struct copy_to_vm_key copy_to_vm_keys[COPY_TO_VM_KEY_COUNT] = {
	{"CopyToVmOverwrite", 64, WINDOWS_SYSTEM32},
	{"CopyToVmWhenNewer", 64, WINDOWS_SYSTEM32},
	{"CopyToVmOverwriteWow64", 32, WINDOWS_SYSWOW64},
	{"CopyToVmWhenNewerWow64", 32, WINDOWS_SYSWOW64},
};

const struct copy_to_vm_key *copy_to_vm_find_key(const char *name)
{
	for (size_t i = 0; i < COPY_TO_VM_KEY_COUNT; i++) {
		if (text_equal(copy_to_vm_keys[i].name, name))
			return &copy_to_vm_keys[i];
	}
	return NULL;
}

int copy_to_vm_parse(uint32_t type, const uint8_t *data, size_t size, struct copy_to_vm_file *out,
		     struct error *err)
{
	uint16_t *units CLEANUP_FREE = memory_allocate(size / 2 + 1, sizeof(*units));
	struct text_list strings CLEANUP_TEXT_LIST = {0};

	if (type != TYPE_SZ && type != TYPE_MULTI_SZ)
		return error_set(err, ERROR_FORMAT, "its type is %u, not REG_MULTI_SZ or REG_SZ",
				 (unsigned)type);
	if (size % 2 != 0)
		return error_set(err, ERROR_FORMAT, "an odd number of bytes is not UTF-16");
	if (units == NULL)
		return error_memory(err);
	for (size_t i = 0; i < size / 2; i++)
		units[i] = (uint16_t)(data[2 * i] | data[2 * i + 1] << 8);
	/* The NULs at the end may be missing; REG_SZ has one string. */
	for (size_t i = 0; i < size / 2 && units[i] != 0;) {
		size_t length = 0;
		while (i + length < size / 2 && units[i + length] != 0)
			length++;
		if (strings.count == STRINGS_MAX)
			return error_set(err, ERROR_FORMAT, "more than two strings");
		text_list_take(&strings, utf16_to_utf8(units + i, length));
		if (type == TYPE_SZ)
			break;
		i += length + 1;
	}
	if (strings.failed)
		return error_memory(err);
	if (strings.count == 0)
		return error_set(err, ERROR_FORMAT, "it is empty");
	if (!windows_path_is_relative(strings.items[0]))
		return error_set(err, ERROR_FORMAT,
				 "the source is not a path inside the driver's folder");
	windows_path_use_backslashes(strings.items[0]);
	const char *last =
		strings.count == 2 ? strings.items[1] : windows_path_base(strings.items[0]);
	if (!windows_path_is_name(last))
		return error_set(err, ERROR_FORMAT, "the destination is not a bare file name");
	*out = (struct copy_to_vm_file){memory_copy(strings.items[0]), memory_copy(last)};
	if (out->source != NULL && out->destination != NULL)
		return 0;
	copy_to_vm_file_free(out);
	return error_memory(err);
}

void copy_to_vm_file_free(struct copy_to_vm_file *file)
{
	free(file->source);
	free(file->destination);
	*file = (struct copy_to_vm_file){0};
}
