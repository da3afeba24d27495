/* SPDX-License-Identifier: MIT */
#include "containers/runtime/runtime_internal.h"

#include "base/file.h"
#include "base/json_members.h"
#include "base/path.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct owner {
	int64_t pid, start_time, namespace;
	const char *boot, *cri;
};

#define OWNER_NUMBER(key_, member, min_, max_)                                                     \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_INT, .presence = JSON_REQUIRED,                 \
		JSON_AT(struct owner, member), .min = (min_), .max = (max_)                        \
	}
#define OWNER_STRING(key_, member, presence_)                                                      \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_STRING, .presence = (presence_),                \
		JSON_AT(struct owner, member)                                                      \
	}

static const struct json_member members[] = {
	OWNER_NUMBER("pid", pid, 1, INT32_MAX),
	OWNER_NUMBER("startTime", start_time, 0, INT64_MAX),
	OWNER_STRING("boot", boot, JSON_REQUIRED),
	OWNER_NUMBER("pidNamespace", namespace, 0, INT64_MAX),
	OWNER_STRING("cri", cri, JSON_OPTIONAL),
	{.key = NULL},
};

int owner_parse_stat(const char *line, char *letter, uint64_t *start_time, struct error *err)
{
	const char *behind = strrchr(line, ')'); /* ends the program's name */
	/* Fields 3 to 22. */
	if (behind == NULL ||
	    sscanf(behind,
		   ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%" SCNu64,
		   letter, start_time) != 2)
		return error_set(err, ERROR_FORMAT, "process status without a start time");
	return 0;
}

static int read_process(int64_t pid, char *letter, int64_t *start_time, struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/%" PRId64 "/stat", pid);
	char *line CLEANUP_FREE = NULL;
	uint64_t start = 0;
	int rc = path != NULL ? file_read_line(path, &line, err) : error_memory(err);
	if (rc < 0)
		return rc;
	rc = owner_parse_stat(line, letter, &start, err);
	*start_time = (int64_t)start;
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

/* Boot and namespace are this process's; `boot` receives the string that self->boot is. */
static int read_self(struct owner *self, char **boot, struct error *err)
{
	struct stat status = {0};
	int rc = file_read_line("/proc/sys/kernel/random/boot_id", boot, err);
	if (rc < 0)
		return rc;
	if (stat("/proc/self/ns/pid", &status) < 0)
		return error_system(err, errno, "/proc/self/ns/pid");
	*self = (struct owner){
		.pid = getpid(), .namespace = (int64_t)status.st_ino, .boot = *boot, .cri = ""};
	return 0;
}

int owner_write(const char *directory, const char *cri, struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, OWNER_FILE);
	char *boot CLEANUP_FREE = NULL;
	struct owner self = {0};
	char letter = 0;
	int rc = read_self(&self, &boot, err);
	if (rc == 0)
		rc = read_process(self.pid, &letter, &self.start_time, err);
	if (rc < 0)
		return rc;
	if (cri != NULL)
		self.cri = cri;
	cJSON *json CLEANUP_JSON = json_members_write(members, &self);
	return path != NULL && json != NULL ? json_write_file(path, json, err) : error_memory(err);
}

static int judge(const struct owner *owner, enum owner_state *state, struct error *err)
{
	char *boot CLEANUP_FREE = NULL;
	struct owner self = {0};
	struct error gone = {0};
	int64_t start_time = 0;
	char letter = 0;
	int rc = read_self(&self, &boot, err);
	if (rc < 0)
		return rc;
	*state = OWNER_DEAD;
	if (strcmp(owner->boot, boot) != 0)
		return 0;
	if (owner->namespace != self.namespace) {
		*state = OWNER_FOREIGN;
		return 0;
	}
	rc = read_process(owner->pid, &letter, &start_time, &gone);
	/* A failure to read must never make a living run look dead. */
	if (rc < 0 && !(kill((pid_t)owner->pid, 0) < 0 && errno == ESRCH))
		return error_copy(err, &gone);
	if (rc == 0 && start_time == owner->start_time && letter != 'Z' && letter != 'X')
		*state = OWNER_ALIVE;
	return 0;
}

int owner_read(const char *directory, enum owner_state *state, char **cri, struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, OWNER_FILE);
	cJSON *json CLEANUP_JSON = NULL;
	struct arena arena CLEANUP(arena_free) = {0};
	struct owner owner = {0};
	int rc = path != NULL ? json_read_file(path, &json, err) : error_memory(err);
	*cri = NULL;
	if (rc < 0)
		return rc;
	struct json_at root = json_root(json);
	rc = json_members_read(&root, members, &owner, &arena, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	rc = judge(&owner, state, err);
	if (rc < 0 || owner.cri[0] == '\0')
		return rc;
	*cri = strdup(owner.cri);
	return *cri != NULL ? 0 : error_memory(err);
}
