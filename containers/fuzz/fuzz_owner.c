/* SPDX-License-Identifier: MIT */
/* The owner of a run's folder over arbitrary bytes: owner.json, and after a NUL a line of /proc/PID/stat. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/runtime/runtime_internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *folder;

static void remove_folder(void)
{
	(void)file_remove_tree(folder, NULL);
	free(folder);
}

static void read_owner(const uint8_t *data, size_t size)
{
	char *cri CLEANUP_FREE = NULL;
	enum owner_state state = OWNER_ALIVE;
	struct error err = {0};
	if (folder == NULL) {
		if (file_make_temporary(NULL, "gpucert-fuzz-", &folder, NULL) < 0 ||
		    atexit(remove_folder) != 0)
			abort();
	}
	char *path CLEANUP_FREE = path_join(folder, OWNER_FILE);
	if (path == NULL || file_write_atomic(path, (const char *)data, size, 0600, NULL) < 0)
		abort();
	int rc = owner_read(folder, &state, &cri, &err);
	if (rc != err.code || (rc < 0 && cri != NULL) ||
	    (rc == 0 && state != OWNER_ALIVE && state != OWNER_DEAD && state != OWNER_FOREIGN))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size > 0 ? memchr(data, '\0', size) : NULL;
	const size_t first = nul != NULL ? (size_t)(nul - data) : size;
	uint64_t start = 0;
	char letter = '\0';
	struct error err = {0};
	read_owner(data, first);
	if (nul == NULL)
		return 0;
	char *line CLEANUP_FREE = strndup((const char *)nul + 1, size - first - 1);
	if (line != NULL && owner_parse_stat(line, &letter, &start, &err) != err.code)
		abort();
	return 0;
}
