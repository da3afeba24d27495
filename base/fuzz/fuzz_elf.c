/* SPDX-License-Identifier: MIT */
/* The ELF reader over arbitrary bytes. */
#include "base/cleanup.h"
#include "base/tests/elf_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_info info CLEANUP(elf_info_free) = {0};
	struct error err = {0};
	int rc = elf_read_bytes(data, size, &info, &err);
	if (rc != err.code || info.needed.count > ELF_NEEDED_MAX)
		__builtin_trap();
	return 0;
}
