/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/plugin_directory.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "rpc/socket.h"

#include <string.h>
#include <uv.h>

enum { DIRECTORY_MODE = 0750, MOVED_MODE = 0700 };

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

int plugin_directory_create(struct plugin_directory *directory, struct error *err)
{
	return file_make_directories(directory->path, DIRECTORY_MODE, err);
}

static int move_aside(struct plugin_directory *directory, const char *name, struct error *err)
{
	CLEANUP_FREE char *from = path_join(directory->path, name);
	CLEANUP_FREE char *aside = path_join(directory->path, KUBELET_MOVED_NAME);
	CLEANUP_FREE char *to = aside == NULL ? NULL : path_join(aside, name);
	if (from == NULL || to == NULL)
		return error_memory(err);
	int rc = file_make_directories(aside, MOVED_MODE, err);
	if (rc == 0)
		rc = rename_file(from, to, err);
	if (rc != 0)
		return rc;
	directory->moved = true;
	if (directory->on_moved != NULL)
		directory->on_moved(from, directory->user);
	return 0;
}

/* Only a real kubelet can write the checksum, so a checkpoint that has one, or cannot be read, is
 * not ours. */
static bool checkpoint_is_foreign(const char *path)
{
	CLEANUP_JSON cJSON *json = NULL;
	if (json_read_file(path, &json, NULL) != 0)
		return true;
	return json_pointer(json, "/Checksum") != NULL;
}

static int move_foreign_checkpoint(struct plugin_directory *directory, struct error *err)
{
	CLEANUP_FREE char *path = path_join(directory->path, KUBELET_CHECKPOINT_NAME);
	if (path == NULL)
		return error_memory(err);
	if (!file_exists(path) || !checkpoint_is_foreign(path))
		return 0;
	return move_aside(directory, KUBELET_CHECKPOINT_NAME, err);
}

static int move_sockets(struct plugin_directory *directory, struct error *err)
{
	CLEANUP_TEXT_LIST struct text_list names = {0};
	int rc = file_list(directory->path, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		CLEANUP_FREE char *path = path_join(directory->path, names.items[i]);
		if (path == NULL)
			rc = error_memory(err);
		else if (socket_is_at(path))
			rc = move_aside(directory, names.items[i], err);
	}
	return rc;
}

int plugin_directory_claim(struct plugin_directory *directory, bool take_over, struct error *err)
{
	CLEANUP_FREE char *socket = path_join(directory->path, KUBELET_SOCKET_NAME);
	CLEANUP_FREE char *aside = path_join(directory->path, KUBELET_MOVED_NAME);
	if (socket == NULL || aside == NULL)
		return error_memory(err);
	/* What a run left aside that could not end properly is put back at the end of this one. */
	directory->moved = file_is_directory(aside);
	bool served = false;
	int rc = socket_is_served(socket, &served, err);
	if (rc != 0)
		return rc;
	if (served && !take_over)
		return error_set(
			err, ERROR_EXISTS,
			"a kubelet is listening on %s; use another directory, or take it over",
			socket);
	rc = move_foreign_checkpoint(directory, err);
	if (rc == 0 && served)
		rc = move_sockets(directory, err);
	return rc;
}

int plugin_directory_sweep(struct plugin_directory *directory, enum sweep what, struct error *err)
{
	CLEANUP_TEXT_LIST struct text_list names = {0};
	int rc = file_list(directory->path, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (what == SWEEP_PLUGINS && strcmp(names.items[i], KUBELET_SOCKET_NAME) == 0)
			continue;
		CLEANUP_FREE char *path = path_join(directory->path, names.items[i]);
		if (path == NULL)
			return error_memory(err);
		if (!socket_is_at(path))
			continue;
		rc = remove_file(path, err);
		if (rc == 0 && directory->on_swept != NULL)
			directory->on_swept(path, directory->user);
	}
	return rc;
}

static bool is_abandoned(const char *path)
{
	bool served = true;
	return socket_is_at(path) && socket_is_served(path, &served, NULL) == 0 && !served;
}

static int put_back(struct plugin_directory *directory, const char *aside, const char *name,
		    struct error *err)
{
	CLEANUP_FREE char *from = path_join(aside, name);
	CLEANUP_FREE char *to = path_join(directory->path, name);
	if (from == NULL || to == NULL)
		return error_memory(err);
	bool taken = strcmp(name, KUBELET_CHECKPOINT_NAME) != 0 && file_exists(to);
	if ((taken || strcmp(name, KUBELET_SOCKET_NAME) != 0) && is_abandoned(from))
		return remove_file(from, err);
	if (taken)
		return error_set(err, ERROR_EXISTS, "%s stays in %s: its name is taken", name,
				 aside);
	int rc = rename_file(from, to, err);
	if (rc == 0 && directory->on_returned != NULL)
		directory->on_returned(to, directory->user);
	return rc;
}

int plugin_directory_return(struct plugin_directory *directory, struct error *err)
{
	if (!directory->moved)
		return 0;
	directory->moved = false;
	CLEANUP_FREE char *aside = path_join(directory->path, KUBELET_MOVED_NAME);
	CLEANUP_TEXT_LIST struct text_list names = {0};
	if (aside == NULL)
		return error_memory(err);
	int rc = file_list(aside, &names, err);
	if (rc != 0)
		return rc;
	/* Plugins look for kubelet.sock: it comes last, when everything else is in place. */
	for (int last = 0; last < 2; last++) {
		for (size_t i = 0; i < names.count; i++) {
			if ((strcmp(names.items[i], KUBELET_SOCKET_NAME) == 0) != (last == 1))
				continue;
			struct error why = {0};
			int code = put_back(directory, aside, names.items[i], &why);
			if (code != 0)
				rc = error_set(err, code, "%s", why.text);
		}
	}
	return rc == 0 ? file_remove_tree(aside, err) : rc;
}

/* What a fake kubelet that died left where the other's files belong. */
static int remove_remains(const char *directory, struct error *err)
{
	CLEANUP_FREE char *socket = path_join(directory, KUBELET_SOCKET_NAME);
	CLEANUP_FREE char *checkpoint = path_join(directory, KUBELET_CHECKPOINT_NAME);
	if (socket == NULL || checkpoint == NULL)
		return error_memory(err);
	int rc = is_abandoned(socket) ? remove_file(socket, err) : 0;
	if (rc == 0 && file_exists(checkpoint) && !checkpoint_is_foreign(checkpoint))
		rc = remove_file(checkpoint, err);
	return rc;
}

int plugin_directory_restore(const char *path, bool *restored, struct error *err)
{
	CLEANUP_FREE char *copy = strdup(path);
	CLEANUP_FREE char *aside = path_join(path, KUBELET_MOVED_NAME);
	if (copy == NULL || aside == NULL)
		return error_memory(err);
	struct plugin_directory directory = {.path = copy, .moved = file_is_directory(aside)};
	if (restored != NULL)
		*restored = directory.moved;
	if (!directory.moved)
		return 0;
	int rc = remove_remains(path, err);
	if (rc == 0)
		rc = plugin_directory_return(&directory, err);
	return rc == 0 ? 0 : error_wrap(err, "putting back what was moved aside in %s", path);
}
