/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over every file of a corpus, for compilers without libFuzzer and for ctest. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	if (argc != 2 || file_list(argv[1], &names, &err) < 0) {
		(void)fprintf(stderr, "usage: %s CORPUS-DIRECTORY (%s)\n", argv[0], err.text);
		return 2;
	}
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(argv[1], names.items[i]);
		char *data CLEANUP_FREE = NULL;
		size_t size = 0;
		if (path == NULL || file_read(path, 16U << 20, &data, &size, &err) < 0) {
			(void)fprintf(stderr, "%s\n", err.text);
			return 2;
		}
		(void)LLVMFuzzerTestOneInput((const uint8_t *)data, size);
	}
	(void)printf("%zu inputs replayed\n", names.count);
	return names.count > 0 ? 0 : 1;
}
