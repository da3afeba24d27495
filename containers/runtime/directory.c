/* SPDX-License-Identifier: MIT */
/* The directory of a run, and its owner. */
#include "containers/runtime/runtime_internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_members.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "containers/runtime/remains.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct owner {
	int64_t pid, start_time, namespace;
	const char *boot, *cri;
};

static const struct json_member members[] = {
	JSON_NUMBER(struct owner, "pid", pid, JSON_REQUIRED, 1, INT32_MAX),
	JSON_NUMBER(struct owner, "startTime", start_time, JSON_REQUIRED, 0, INT64_MAX),
	JSON_TEXT(struct owner, "boot", boot, JSON_REQUIRED, NULL),
	JSON_NUMBER(struct owner, "pidNamespace", namespace, JSON_REQUIRED, 0, INT64_MAX),
	JSON_TEXT(struct owner, "cri", cri, JSON_OPTIONAL, NULL),
	{.key = NULL},
};

int owner_parse_stat(const char *line, char *letter, uint64_t *start_time, struct error *err)
{
	const char *name_end = strrchr(line, ')'); /* ends the program's name */
	/* Fields 3 to 22. */
	if (name_end == NULL ||
	    sscanf(name_end,
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
	int rc = file_read_line(path, &line, err);
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
	return json_write_file(path, json, err);
}

int owner_read(const char *directory, enum owner_state *state, char **cri, struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, OWNER_FILE);
	char *boot CLEANUP_FREE = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	struct arena arena CLEANUP(arena_free) = {0};
	struct owner owner = {0};
	struct owner self = {0};
	struct error gone = {0};
	int64_t start_time = 0;
	char letter = 0;
	*cri = NULL;
	int rc = json_read_file(path, &json, err);
	if (rc < 0)
		return rc;
	struct json_at root = json_root(json);
	rc = json_members_read(&root, members, &owner, &arena, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	rc = read_self(&self, &boot, err);
	if (rc < 0)
		return rc;

	*state = OWNER_DEAD;
	if (strcmp(owner.boot, boot) == 0 && owner.namespace != self.namespace) {
		*state = OWNER_FOREIGN;
	} else if (strcmp(owner.boot, boot) == 0) {
		rc = read_process(owner.pid, &letter, &start_time, &gone);
		/* A failure to read must never make a living run look dead. */
		if (rc < 0 && !(kill((pid_t)owner.pid, 0) < 0 && errno == ESRCH))
			return error_copy(err, &gone);
		if (rc == 0 && start_time == owner.start_time && letter != 'Z' && letter != 'X')
			*state = OWNER_ALIVE;
	}
	if (owner.cri[0] != '\0')
		*cri = memory_copy(owner.cri);
	return 0;
}

/* The longest socket path that containerd makes in it. */
#define LONGEST_SOCKET "/" RUN_DIRECTORY_PREFIX "XXXXXX/containerd.sock.ttrpc"

enum { BASE_TRIES = 8 };

int run_directory_make(const char *base, const char *cri, char **path, struct error *err)
{
	size_t max = sizeof(((struct sockaddr_un *)NULL)->sun_path) - sizeof(LONGEST_SOCKET);
	char *made CLEANUP_FREE = NULL;
	if (base == NULL)
		base = RUNTIME_BASE_DIRECTORY;
	if (geteuid() != 0)
		return error_set(err, ERROR_PERMISSION, "containers need root");
	if (!path_is_absolute(base))
		return error_set(err, ERROR_ARGUMENT, "%s: base directory is not absolute", base);
	/* The path is written into a TOML string, unescaped. */
	for (const char *at = base; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
			return error_set(
				err, ERROR_ARGUMENT,
				"base directory holds a quote, backslash or control character");
	}
	if (strlen(base) > max)
		return error_set(err, ERROR_LIMIT,
				 "%s: too long for a socket path (at most %zu bytes)", base, max);

	/* Another run may remove the empty base directory in between: see run_directory_remove(). */
	int rc = ERROR_NOT_FOUND;
	for (int try = 0; rc == ERROR_NOT_FOUND && try < BASE_TRIES; try++) {
		rc = file_make_directories(base, 0711, err);
		if (rc == 0)
			rc = file_make_temporary(base, NEW_DIRECTORY_PREFIX, &made, err);
	}
	if (rc < 0)
		return rc;

	/* It gets its final name once it is filled. */
	char *work CLEANUP_FREE = path_join(made, "work");
	char *named CLEANUP_FREE = text_format("%s/" RUN_DIRECTORY_PREFIX "%s", base,
					       path_base(made) + strlen(NEW_DIRECTORY_PREFIX));
	rc = owner_write(made, cri, err);
	if (rc == 0)
		rc = file_make_directories(work, 0700, err);
	if (rc == 0 && rename(made, named) < 0)
		rc = error_system(err, errno, "%s", named);
	if (rc < 0)
		(void)file_remove_tree(made, NULL);
	else
		*path = STEAL(named);
	return rc;
}

int runtime_remove_directory(const char *path, size_t *undone, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int result = file_exists(path) ? remains_unmount(path, undone, err) : 0;
	if (result < 0)
		return result;
	if (file_is_directory(path))
		result = file_list(path, &names, err);
	/* owner.json exists as long as anything else does. */
	text_each (name, &names) {
		char *below CLEANUP_FREE = path_join(path, name);
		int rc = 0;
		if (strcmp(name, OWNER_FILE) != 0)
			rc = file_remove_tree(below, result == 0 ? err : NULL);
		result = result == 0 ? rc : result;
	}
	if (result == 0)
		result = file_remove_tree(path, err);
	return result;
}

int runtime_make_directory(char **path, struct error *err)
{
	char *made CLEANUP_FREE = NULL;
	int rc = file_make_temporary(NULL, TEMPORARY_PREFIX, &made, err);
	if (rc < 0)
		return rc;
	rc = owner_write(made, NULL, err);
	if (rc < 0)
		(void)file_remove_tree(made, NULL);
	else
		*path = STEAL(made);
	return rc;
}

int run_directory_remove(const char *path, struct error *err)
{
	char *base CLEANUP_FREE = path_directory(path);
	int rc = remains_remove(path, err);
	(void)rmdir(base);
	return rc;
}

enum { IMPORTED_MAX = 64 * 1024 };

int run_directory_imported(const char *path, struct text_list *references, struct error *err)
{
	char *list CLEANUP_FREE = path_join(path, RUNTIME_IMPORTED_FILE);
	char *text CLEANUP_FREE = NULL;
	if (!file_exists(list))
		return 0;
	int rc = file_read(list, IMPORTED_MAX, &text, NULL, err);
	if (rc == 0)
		text_list_split(references, text, '\n');
	return rc;
}

bool run_directory_shares_image(const char *path, const char *cri, const char *reference)
{
	char *base CLEANUP_FREE = path_directory(path);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool shared = false;
	(void)file_list(base, &names, NULL);
	for (size_t i = 0; !shared && i < names.count; i++) {
		char *other CLEANUP_FREE = path_join(base, names.items[i]);
		char *address CLEANUP_FREE = NULL;
		struct text_list references CLEANUP_TEXT_LIST = {0};
		enum owner_state state = OWNER_DEAD;
		if (strcmp(other, path) == 0 || owner_read(other, &state, &address, NULL) < 0 ||
		    state == OWNER_DEAD || !text_equal(address, cri))
			continue;
		(void)run_directory_imported(other, &references, NULL);
		shared = text_list_has(&references, reference);
	}
	return shared;
}
