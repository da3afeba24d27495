/* SPDX-License-Identifier: MIT */
/* What a container runtime reports of a container, as JSON ("info" of ContainerStatus), over arbitrary bytes. */
#include "containers/cri/cri.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text CLEANUP_FREE = strndup((const char *)data, size);
	int64_t pid = 0;
	struct error err = {0};
	if (text == NULL)
		return 0;
	int rc = cri_info_pid(text, &pid, &err);
	if (rc != err.code || (rc == 0 && (pid <= 0 || pid > INT32_MAX)))
		abort();
	return 0;
}
