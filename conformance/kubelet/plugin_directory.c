/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/plugin_directory.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "rpc/socket.h"

#include <string.h>
#include <unistd.h>
#include <uv.h>

#define OWN_CHECKPOINT "checkpoint" /* of the fake kubelet, in KUBELET_MOVED_NAME */

enum { MOVED_MODE = 0700 };

static void report(const struct plugin_directory *directory, enum kubelet_event_type what,
		   const char *path)
{
	if (directory->on_file != NULL)
		directory->on_file(what, path, directory->user);
}

static int rename_file(const char *from, const char *to, struct error *err)
{
	uv_fs_t request;
	int rc = uv_fs_rename(NULL, &request, from, to, NULL);
	uv_fs_req_cleanup(&request);
	return rc == 0 ? 0 : error_uv(err, rc, "cannot rename %s to %s", from, to);
}

static int remove_file(const char *path, struct error *err)
{
	uv_fs_t request;
	int rc = uv_fs_unlink(NULL, &request, path, NULL);
	uv_fs_req_cleanup(&request);
	return rc == 0 || rc == UV_ENOENT ? 0 : error_uv(err, rc, "cannot remove %s", path);
}

void plugin_directory_free(struct plugin_directory *directory)
{
	text_list_free(&directory->left);
	if (directory->moved)
		(void)close(directory->lock);
}

/* The lock shows that the process that moved the files is alive. */
static int lock_aside(struct plugin_directory *directory, const char *aside, struct error *err)
{
	int rc = file_lock_directory(aside, &directory->lock, err);
	directory->moved = rc == 0;
	return rc;
}

static int make_aside(struct plugin_directory *directory, char **aside, struct error *err)
{
	*aside = path_join(directory->path, KUBELET_MOVED_NAME);
	int rc = file_make_directories(*aside, MOVED_MODE, err);
	if (rc < 0 || directory->moved)
		return rc;
	return lock_aside(directory, *aside, err);
}

/* Only a real kubelet can write the checksum: a checkpoint that has one, or cannot be read, is not
 * ours. */
static bool checkpoint_is_foreign(const char *path)
{
	cJSON *json CLEANUP_JSON = NULL;
	if (json_read_file(path, &json, NULL) != 0)
		return true;
	return json_pointer(json, "/Checksum") != NULL;
}

int plugin_directory_forget(const char *checkpoint, struct error *err)
{
	if (!file_exists(checkpoint) || checkpoint_is_foreign(checkpoint))
		return 0;
	return remove_file(checkpoint, err);
}

/* Unknown counts as served, so that nothing is lost. */
static bool is_abandoned(const char *path)
{
	bool served = true;
	return socket_is_at(path) && socket_is_served(path, &served, NULL) == 0 && !served;
}

static int remove_socket(struct plugin_directory *directory, const char *path, struct error *err)
{
	int rc = remove_file(path, err);
	if (rc == 0)
		report(directory, KUBELET_EVENT_SOCKET_SWEPT, path);
	return rc;
}

/* Calls `act` with `how` for every socket in the directory. */
static int for_each_socket(struct plugin_directory *directory, int how,
			   int (*act)(struct plugin_directory *directory, const char *name,
				      const char *path, int how, struct error *err),
			   struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = file_list(directory->path, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(directory->path, names.items[i]);
		if (socket_is_at(path))
			rc = act(directory, names.items[i], path, how, err);
	}
	return rc;
}

static int claim_socket(struct plugin_directory *directory, const char *name, const char *path,
			int take_over, struct error *err)
{
	if (is_abandoned(path))
		return remove_socket(directory, path, err);
	if (!take_over) {
		report(directory, KUBELET_EVENT_PROBLEM, path);
		text_list_add(&directory->left, name);
		return 0;
	}

	char *aside CLEANUP_FREE = NULL;
	int rc = make_aside(directory, &aside, err);
	if (rc < 0)
		return rc;
	char *to CLEANUP_FREE = path_join(aside, name);
	rc = rename_file(path, to, err);
	if (rc == 0)
		report(directory, KUBELET_EVENT_SOCKET_MOVED, path);
	return rc;
}

int plugin_directory_claim(struct plugin_directory *directory, bool take_over, char **checkpoint,
			   struct error *err)
{
	char *socket CLEANUP_FREE = path_join(directory->path, KUBELET_SOCKET_NAME);
	char *aside CLEANUP_FREE = path_join(directory->path, KUBELET_MOVED_NAME);
	char *file CLEANUP_FREE = path_join(directory->path, KUBELET_CHECKPOINT_NAME);
	bool served = false;
	uv_fs_t request;

	int status = uv_fs_access(NULL, &request, directory->path, W_OK | X_OK, NULL);
	uv_fs_req_cleanup(&request);
	if (status != 0)
		return error_uv(err, status, "no socket can be made in %s", directory->path);
	if (file_exists(socket) && !socket_is_at(socket))
		return error_set(err, ERROR_EXISTS, "%s is not a socket", socket);
	int rc = socket_is_served(socket, &served, err);
	if (rc < 0)
		return rc;
	if (served && !take_over)
		return error_set(
			err, ERROR_EXISTS,
			"a kubelet is listening on %s; use another directory, or take it over",
			socket);

	/* Files that a run moved aside and did not put back are put back at the end of this one. */
	if (file_is_directory(aside))
		rc = lock_aside(directory, aside, err);
	if (rc == 0 && (served || (file_exists(file) && checkpoint_is_foreign(file)))) {
		char *made CLEANUP_FREE = NULL;
		rc = make_aside(directory, &made, err);
		if (rc == 0)
			*checkpoint = path_join(made, OWN_CHECKPOINT);
	} else if (rc == 0) {
		*checkpoint = STEAL(file);
	}
	if (rc == 0)
		rc = for_each_socket(directory, take_over, claim_socket, err);
	directory->claimed = rc == 0;
	return rc;
}

static int sweep_socket(struct plugin_directory *directory, const char *name, const char *path,
			int what, struct error *err)
{
	bool is_kubelet = strcmp(name, KUBELET_SOCKET_NAME) == 0;
	if (what == (is_kubelet ? SWEEP_PLUGINS : SWEEP_KUBELET) ||
	    text_list_has(&directory->left, name))
		return 0;
	return remove_socket(directory, path, err);
}

int plugin_directory_sweep(struct plugin_directory *directory, enum sweep what, struct error *err)
{
	return for_each_socket(directory, (int)what, sweep_socket, err);
}

static int put_back(struct plugin_directory *directory, const char *aside, const char *name,
		    struct error *err)
{
	char *from CLEANUP_FREE = path_join(aside, name);
	char *to CLEANUP_FREE = path_join(directory->path, name);
	bool taken = file_exists(to);
	if (strcmp(name, OWN_CHECKPOINT) == 0 ||
	    ((taken || strcmp(name, KUBELET_SOCKET_NAME) != 0) && is_abandoned(from)))
		return remove_file(from, err);
	if (taken)
		return error_set(err, ERROR_EXISTS, "%s stays in %s: its name is taken", name,
				 aside);
	int rc = rename_file(from, to, err);
	if (rc == 0)
		report(directory, KUBELET_EVENT_SOCKET_RETURNED, to);
	return rc;
}

int plugin_directory_return(struct plugin_directory *directory, struct error *err)
{
	char *aside CLEANUP_FREE = path_join(directory->path, KUBELET_MOVED_NAME);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (!directory->moved)
		return 0;

	/* Plugins look for kubelet.sock: it comes last, when everything else is in place. */
	int rc = file_list(aside, &names, err);
	for (size_t i = 0; i <= names.count; i++) {
		const char *name = i < names.count ? names.items[i] : KUBELET_SOCKET_NAME;
		bool is_kubelet = strcmp(name, KUBELET_SOCKET_NAME) == 0;
		struct error why = {0};
		if (strcmp(name, FILE_LOCK_NAME) == 0 || is_kubelet != (i == names.count) ||
		    (is_kubelet && !text_list_has(&names, name)))
			continue;
		if (put_back(directory, aside, name, &why) != 0)
			rc = error_copy(err, &why);
	}
	directory->moved = false;
	(void)close(directory->lock);
	return rc == 0 ? file_remove_tree(aside, err) : rc;
}

int plugin_directory_restore(const char *path, bool *restored, struct error *err)
{
	char *aside CLEANUP_FREE = path_join(path, KUBELET_MOVED_NAME);
	char *socket CLEANUP_FREE = path_join(path, KUBELET_SOCKET_NAME);
	char *checkpoint CLEANUP_FREE = path_join(path, KUBELET_CHECKPOINT_NAME);
	struct plugin_directory directory = {.path = path};
	if (restored != NULL)
		*restored = file_is_directory(aside);
	if (!file_is_directory(aside))
		return 0;
	int rc = lock_aside(&directory, aside, err);
	if (rc < 0)
		return rc;

	/* Files of a fake kubelet that died, in the place of the other's. */
	if (is_abandoned(socket))
		rc = remove_file(socket, err);
	if (rc == 0)
		rc = plugin_directory_forget(checkpoint, err);
	if (rc == 0)
		rc = plugin_directory_return(&directory, err);
	plugin_directory_free(&directory);
	return rc == 0 ? 0 : error_wrap(err, rc, "putting back what was moved aside in %s", path);
}
