/* SPDX-License-Identifier: MIT */
#include "workloads/common/output.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 }; /* the system's write() counts to INT_MAX alone on Windows */

static int write_all(int fd, const char *data, size_t size, struct error *err)
{
	while (size > 0) {
		ssize_t written = write(fd, data, size < CHUNK ? (unsigned)size : CHUNK);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_system(err, errno, "standard output");
		data += written;
		size -= (size_t)written;
	}
	return 0;
}

int output_write(int fd, const cJSON *document, struct error *err)
{
	int owned CLEANUP_FD = fd;
	char *json CLEANUP_FREE = json_print_compact(document);

	if (json == NULL)
		return error_memory(err);
	size_t length = strlen(json);
	int code = 0;

	json[length] = '\n'; /* in place of the NUL: one write for the whole line */
	code = write_all(owned, json, length + 1, err);
	if (code == 0 && close(STEAL_FD(owned)) != 0)
		code = error_system(err, errno, "standard output");
	return code;
}
