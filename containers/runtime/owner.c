/* SPDX-License-Identifier: MIT */
#include "containers/runtime/owner.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_START_TIME_FIELD = 22, STAT_STATE_FIELD = 3 };

static int owner_boot(char **boot, struct error *err)
{
	return file_read_line("/proc/sys/kernel/random/boot_id", boot, err);
}

static int owner_namespace(uint64_t *inode, struct error *err)
{
	struct stat status = {0};

	if (stat("/proc/self/ns/pid", &status) < 0)
		return error_system(err, errno, "/proc/self/ns/pid");
	*inode = status.st_ino;
	return 0;
}

int owner_parse_stat(const char *line, char *letter, uint64_t *start_time, struct error *err)
{
	const char *field = strrchr(line, ')'); /* ends the program's name */
	char *end = NULL;

	if (field == NULL || field[1] != ' ' || field[2] == '\0')
		return error_set(err, ERROR_FORMAT, "process status without a name");
	*letter = field[2];
	field += 2;
	for (int number = STAT_STATE_FIELD; number < STAT_START_TIME_FIELD; number++) {
		field = strchr(field, ' ');
		if (field == NULL)
			return error_set(err, ERROR_FORMAT, "process status without a start time");
		field++;
	}
	errno = 0;
	*start_time = strtoull(field, &end, 10);
	if (end == field || errno != 0)
		return error_set(err, ERROR_FORMAT, "process status without a start time");
	return 0;
}

static int owner_process(int64_t pid, char *letter, uint64_t *start_time, struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/%lld/stat", (long long)pid);
	char *line CLEANUP_FREE = NULL;
	int rc = 0;

	if (path == NULL)
		return error_memory(err);
	rc = file_read_line(path, &line, err);
	if (rc < 0)
		return rc;
	rc = owner_parse_stat(line, letter, start_time, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

int owner_write(const char *directory, const char *cri, struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, OWNER_FILE);
	cJSON *json CLEANUP_JSON = cJSON_CreateObject();
	char *boot CLEANUP_FREE = NULL;
	uint64_t namespace = 0;
	uint64_t start_time = 0;
	char letter = 0;
	int rc = 0;

	if (path == NULL || json == NULL)
		return error_memory(err);
	rc = owner_boot(&boot, err);
	if (rc == 0)
		rc = owner_namespace(&namespace, err);
	if (rc == 0)
		rc = owner_process(getpid(), &letter, &start_time, err);
	if (rc < 0)
		return rc;
	if (cJSON_AddNumberToObject(json, "pid", getpid()) == NULL ||
	    cJSON_AddNumberToObject(json, "startTime", (double)start_time) == NULL ||
	    cJSON_AddStringToObject(json, "boot", boot) == NULL ||
	    cJSON_AddNumberToObject(json, "pidNamespace", (double)namespace) == NULL ||
	    (cri != NULL && cJSON_AddStringToObject(json, "cri", cri) == NULL))
		return error_memory(err);
	return json_write_file(path, json, err);
}

static int owner_judge(const char *boot, int64_t pid, int64_t start_time, int64_t namespace,
		       enum owner_state *state, struct error *err)
{
	char *our_boot CLEANUP_FREE = NULL;
	struct error gone = {0};
	uint64_t our_namespace = 0;
	uint64_t now_start_time = 0;
	char letter = 0;
	int rc = owner_boot(&our_boot, err);

	if (rc == 0)
		rc = owner_namespace(&our_namespace, err);
	if (rc < 0)
		return rc;
	if (strcmp(boot, our_boot) != 0) {
		*state = OWNER_DEAD;
		return 0;
	}
	if ((uint64_t) namespace != our_namespace) {
		*state = OWNER_FOREIGN;
		return 0;
	}
	rc = owner_process(pid, &letter, &now_start_time, &gone);
	/* A failure to read must never make a living run look dead. */
	if (rc < 0 && !(kill((pid_t)pid, 0) < 0 && errno == ESRCH))
		return error_copy(err, &gone);
	*state = rc == 0 && now_start_time == (uint64_t)start_time && letter != 'Z' && letter != 'X'
			 ? OWNER_ALIVE
			 : OWNER_DEAD;
	return 0;
}

int owner_read(const char *directory, enum owner_state *state, char **cri, struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, OWNER_FILE);
	cJSON *json CLEANUP_JSON = NULL;
	struct json_at root = {0};
	const char *boot = NULL;
	const char *address = NULL;
	int64_t pid = 0;
	int64_t start_time = 0;
	int64_t namespace = 0;
	int rc = 0;

	*cri = NULL;
	if (path == NULL)
		return error_memory(err);
	rc = json_read_file(path, &json, err);
	if (rc < 0)
		return rc;
	root = json_root(json);
	rc = json_need_int(&root, "pid", 1, INT32_MAX, &pid, err);
	rc = rc == 0 ? json_need_int(&root, "startTime", 0, INT64_MAX, &start_time, err) : rc;
	rc = rc == 0 ? json_need_string(&root, "boot", &boot, err) : rc;
	rc = rc == 0 ? json_need_int(&root, "pidNamespace", 0, INT64_MAX, &namespace, err) : rc;
	rc = rc == 0 ? json_have_string(&root, "cri", &address, err) : rc;
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	rc = owner_judge(boot, pid, start_time, namespace, state, err);
	if (rc < 0)
		return rc;
	if (address != NULL && (*cri = strdup(address)) == NULL)
		return error_memory(err);
	return 0;
}
