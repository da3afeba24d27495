/* SPDX-License-Identifier: MIT */
#include "workloads/common/output.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int output_write(int fd, const cJSON *document, struct error *err)
{
	int owned CLEANUP_FD = fd;
	char *json CLEANUP_FREE = json_print_compact(document);
	if (json == NULL)
		return error_memory(err);
	size_t length = strlen(json);
	json[length] = '\n'; /* in place of the NUL: one write for the whole line */
	if (!file_write_all(owned, json, length + 1) || close(STEAL_FD(owned)) != 0)
		return error_system(err, errno, "standard output");
	return 0;
}
