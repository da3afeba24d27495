/* SPDX-License-Identifier: MIT */
/* The reader of version resources over arbitrary bytes. */
#include "containers/judging/contents/internal.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture capture = {0};
	struct error err = {0};
	char version[PE_VERSION_SIZE] = "";
	capture_begin(&capture, size);
	if (size > 0 && capture_feed(&capture, 0, data, size, &err) < 0)
		__builtin_trap();
	int rc = pe_version(&capture.source, version, &err);
	if (rc == 0 && memchr(version, '\0', sizeof(version)) == NULL)
		__builtin_trap();
	capture_end(&capture);
	return 0;
}
