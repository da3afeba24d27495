/* SPDX-License-Identifier: MIT */
#include "discovery/windows/copy_to_vm.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "base/utf16.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_SZ = 1, TYPE_MULTI_SZ = 7, STRINGS_MAX = 2 };

#define SYSTEM32 "C:\\Windows\\System32"
#define SYSWOW64 "C:\\Windows\\SysWOW64"

const struct copy_to_vm_key copy_to_vm_keys[COPY_TO_VM_KEY_COUNT] = {
	{"CopyToVmOverwrite", 64, SYSTEM32},
	{"CopyToVmWhenNewer", 64, SYSTEM32},
	{"CopyToVmOverwriteWow64", 32, SYSWOW64},
	{"CopyToVmWhenNewerWow64", 32, SYSWOW64},
};

const struct copy_to_vm_key *copy_to_vm_find_key(const char *name)
{
	for (size_t i = 0; i < COPY_TO_VM_KEY_COUNT; i++) {
		if (text_equal(copy_to_vm_keys[i].name, name))
			return &copy_to_vm_keys[i];
	}
	return NULL;
}

/* The strings of a value; the NULs at its end may be missing. */
static int copy_to_vm_strings(uint32_t type, const uint16_t *units, size_t count,
			      struct text_list *out, struct error *err)
{
	for (size_t i = 0; i < count && units[i] != 0;) {
		size_t length = 0;
		int rc = 0;

		while (i + length < count && units[i + length] != 0)
			length++;
		if (out->count == STRINGS_MAX)
			return error_set(err, ERROR_FORMAT, "more than two strings");
		rc = text_list_take(out, utf16_to_utf8(units + i, length), err);
		if (rc < 0)
			return rc;
		if (type == TYPE_SZ)
			return 0;
		i += length + 1;
	}
	return 0;
}

/* Each part a plain name: no "..", drive, stream or device. */
static int copy_to_vm_check_source(char *source, struct error *err)
{
	for (char *c = source; *c != '\0'; c++)
		*c = *c == '/' ? '\\' : *c;
	for (const char *part = source;;) {
		size_t length = strcspn(part, "\\");
		char *name CLEANUP_FREE = strndup(part, length);

		if (name == NULL)
			return error_memory(err);
		if (!path_is_windows_name(name))
			return error_set(err, ERROR_FORMAT,
					 "the source is no path inside the driver's folder");
		if (part[length] == '\0')
			return 0;
		part += length + 1;
	}
}

int copy_to_vm_parse(uint32_t type, const uint8_t *data, size_t size, struct copy_to_vm_file *out,
		     struct error *err)
{
	uint16_t *units CLEANUP_FREE = calloc(size / 2 + 1, sizeof(*units));
	struct text_list strings CLEANUP_TEXT_LIST = {0};
	const char *last = NULL;
	int rc = 0;

	if (type != TYPE_SZ && type != TYPE_MULTI_SZ)
		return error_set(err, ERROR_FORMAT, "its type is %u, not REG_MULTI_SZ or REG_SZ",
				 (unsigned)type);
	if (size % 2 != 0)
		return error_set(err, ERROR_FORMAT, "an odd number of bytes is no UTF-16");
	if (units == NULL)
		return error_memory(err);
	for (size_t i = 0; i < size / 2; i++)
		units[i] = (uint16_t)(data[2 * i] | data[2 * i + 1] << 8);
	rc = copy_to_vm_strings(type, units, size / 2, &strings, err);
	if (rc < 0)
		return rc;
	if (strings.count == 0)
		return error_set(err, ERROR_FORMAT, "it is empty");
	rc = copy_to_vm_check_source(strings.items[0], err);
	if (rc < 0)
		return rc;
	last = strrchr(strings.items[0], '\\');
	last = strings.count == 2 ? strings.items[1] : last != NULL ? last + 1 : strings.items[0];
	if (!path_is_windows_name(last))
		return error_set(err, ERROR_FORMAT, "the destination is no bare file name");
	*out = (struct copy_to_vm_file){strdup(strings.items[0]), strdup(last)};
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
