/* SPDX-License-Identifier: MIT */
#include "discovery/linux/fingerprint.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <string.h>
#include <sys/stat.h>

static uint64_t fingerprint_bytes(uint64_t fingerprint, const void *data, size_t size)
{
	const unsigned char *bytes = data;
	for (size_t i = 0; i < size; i++)
		fingerprint = (fingerprint ^ bytes[i]) * UINT64_C(0x100000001b3);
	return fingerprint;
}

static uint64_t fingerprint_number(uint64_t fingerprint, uint64_t number)
{
	for (int shift = 0; shift < 64; shift += 8)
		fingerprint = (fingerprint ^ (number >> shift & 0xff)) * UINT64_C(0x100000001b3);
	return fingerprint;
}

static uint64_t fingerprint_content(uint64_t fingerprint, const char *path)
{
	struct stat status = {0};
	if (stat(path, &status) < 0)
		return fingerprint_bytes(fingerprint, "gone", 4);
	fingerprint = fingerprint_number(fingerprint, (uint64_t)status.st_ino);
	fingerprint = fingerprint_number(fingerprint, (uint64_t)status.st_size);
	fingerprint = fingerprint_number(fingerprint, (uint64_t)status.st_ctim.tv_sec);
	return fingerprint_number(fingerprint, (uint64_t)status.st_ctim.tv_nsec);
}

uint64_t fingerprint_directory(uint64_t fingerprint, const char *directory, const char *pattern,
			       bool contents)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	fingerprint = fingerprint_bytes(fingerprint, directory, strlen(directory) + 1);
	(void)file_list(directory, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);
		if (path == NULL || !text_glob(pattern, names.items[i]))
			continue;
		fingerprint =
			fingerprint_bytes(fingerprint, names.items[i], strlen(names.items[i]) + 1);
		if (contents)
			fingerprint = fingerprint_content(fingerprint, path);
	}
	return fingerprint;
}
