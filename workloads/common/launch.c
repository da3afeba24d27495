/* SPDX-License-Identifier: MIT */
#include "workloads/common/launch.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 256 };

int probe_launch_set_nonce(struct probe_launch *launch, const char *nonce, struct error *err)
{
	static const char letters[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t length = strlen(nonce);

	if (length == 0 || length > LAUNCH_NONCE_MAX || nonce[strspn(nonce, letters)] != '\0')
		return error_set(err, ERROR_FORMAT, "nonce: not 1 to %d letters and digits",
				 LAUNCH_NONCE_MAX);
	memcpy(launch->nonce, nonce, length + 1);
	return 0;
}

static int launch_parse(struct probe_launch *launch, char *line, const char *path,
			struct error *err)
{
	char *space = strchr(line, ' ');
	long long seed = 0;
	int rc = 0;

	line[strcspn(line, "\r\n")] = '\0';
	if (space == NULL)
		return error_set(err, ERROR_FORMAT, "%s: not a nonce and a seed", path);
	*space = '\0';
	rc = probe_launch_set_nonce(launch, line, err);
	if (rc == 0)
		rc = text_to_int64(space + 1, "seed", 1, UINT32_MAX, &seed, err);
	launch->seed = (uint32_t)seed;
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

/* Not file_read(): this one is to block until a writer of the FIFO has come and gone. */
int probe_launch_wait(struct probe_launch *launch, const char *path, struct error *err)
{
	FILE *file CLEANUP_FILE = fopen(path, "r");
	char line[LINE_MAX_BYTES] = "";

	if (file == NULL)
		return error_system(err, errno, "%s", path);
	if (fgets(line, sizeof(line), file) == NULL)
		return error_set(err, ERROR_FORMAT, "%s: nobody wrote a nonce and a seed", path);
	return launch_parse(launch, line, path, err);
}
