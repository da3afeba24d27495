/* SPDX-License-Identifier: MIT */
/* The relay's two directories: each socket of one side has a mirror on the other. */
#include "containers/wine/relay.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64, SOCKET_MODE = 0600 };

void relay_note(struct relay *relay, const char *format, ...)
{
	struct text note CLEANUP_TEXT = {0};
	if (relay->options.on_note == NULL)
		return;
	text_add_formatted(&note, format);
	relay->options.on_note(text_string(&note), relay->options.user);
}

char *relay_path(const struct relay *relay, enum relay_side side, const char *name)
{
	return path_join(relay->options.directories[side], name);
}

static enum relay_side other_side(enum relay_side side)
{
	return side == RELAY_KUBELET ? RELAY_WINE : RELAY_KUBELET;
}

/* The identity of a file; false: not a file of the kind that the side has. */
static bool identify(const struct relay *relay, enum relay_side side, const char *name,
		     struct relay_identity *out)
{
	char *path CLEANUP_FREE = relay_path(relay, side, name);
	struct stat status = {0};
	if (lstat(path, &status) < 0)
		return false;
	*out = (struct relay_identity){status.st_ino, status.st_mtim};
	return side == RELAY_KUBELET ? S_ISSOCK(status.st_mode) : S_ISREG(status.st_mode);
}

static bool is_still(const struct relay *relay, enum relay_side side, const char *name,
		     const struct relay_identity *known)
{
	struct relay_identity now = {0};
	return identify(relay, side, name, &now) && now.inode == known->inode &&
	       now.written.tv_sec == known->written.tv_sec &&
	       now.written.tv_nsec == known->written.tv_nsec;
}

static void remove_file(const struct relay *relay, enum relay_side side, const char *name,
			const struct relay_identity *known)
{
	char *path CLEANUP_FREE = relay_path(relay, side, name);
	if (is_still(relay, side, name, known))
		(void)unlink(path);
}

static void free_mirror(uv_handle_t *handle)
{
	struct relay_mirror *mirror = handle->data;
	free(mirror->name);
	free(mirror);
}

/* Removes a mirror and its copy. */
static void drop(struct relay *relay, size_t index)
{
	struct relay_mirror *mirror = relay->mirrors[index];
	if (!mirror->refused)
		remove_file(relay, other_side(mirror->side), mirror->name, &mirror->copy);
	relay->mirrors[index] = relay->mirrors[--relay->mirror_count];
	mirror->relay = NULL;
	uv_close(&mirror->listener.handle, free_mirror);
}

static void on_connection(uv_stream_t *stream, int status)
{
	struct relay_mirror *mirror = stream->data;
	if (status == 0 && mirror->relay != NULL)
		relay_link_accept(mirror);
}

/* A port of our own, and a rendezvous file for it on Wine's side. */
static int offer_port(struct relay *relay, struct relay_mirror *mirror, struct error *err)
{
	struct sockaddr_in address = {0};
	int size = sizeof(address);
	char line[RENDEZVOUS_TEXT_MAX] = "";
	char *path CLEANUP_FREE = relay_path(relay, RELAY_WINE, mirror->name);
	int rc = uv_ip4_addr("127.0.0.1", 0, &address);
	if (rc == 0)
		rc = uv_tcp_bind(&mirror->listener.tcp, (struct sockaddr *)&address, 0);
	if (rc == 0)
		rc = uv_listen(&mirror->listener.stream, BACKLOG, on_connection);
	if (rc == 0)
		rc = uv_tcp_getsockname(&mirror->listener.tcp, (struct sockaddr *)&address, &size);
	if (rc < 0)
		return error_set(err, ERROR_IO, "port for %s: %s", mirror->name, uv_strerror(rc));
	if (getrandom(mirror->rendezvous.nonce, RENDEZVOUS_NONCE_SIZE, 0) != RENDEZVOUS_NONCE_SIZE)
		return error_system(err, errno, "random bytes");
	mirror->rendezvous.port = ntohs(address.sin_port);
	rendezvous_format(&mirror->rendezvous, line);
	return file_write_atomic(path, line, strlen(line), SOCKET_MODE, err);
}

/* A socket on the kubelet's side for the plugin's rendezvous file. */
static int offer_socket(struct relay *relay, struct relay_mirror *mirror, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char *path CLEANUP_FREE = relay_path(relay, RELAY_KUBELET, mirror->name);
	/* libuv would remove whatever has the name when it closes a pipe that it bound itself. */
	int fd CLEANUP_FD = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, ERROR_LIMIT, "%s: too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return error_system(err, errno, "%s", path);
	int rc = uv_pipe_open(&mirror->listener.pipe, fd);
	if (rc == 0) {
		(void)STEAL_FD(fd);
		rc = uv_listen(&mirror->listener.stream, BACKLOG, on_connection);
	}
	return rc < 0 ? error_set(err, ERROR_IO, "%s: %s", path, uv_strerror(rc)) : 0;
}

/* A refused file stays in the table as long as it exists, so that it is reported once. */
static void add(struct relay *relay, enum relay_side side, const char *name,
		const struct relay_identity *identity)
{
	if (relay->mirror_count == RELAY_MIRRORS_MAX) {
		if (!relay->too_many)
			relay_note(relay, "more than %d sockets: the rest is not relayed",
				   RELAY_MIRRORS_MAX);
		relay->too_many = true;
		return;
	}
	struct relay_mirror *mirror = memory_allocate(1, sizeof(*mirror));
	*mirror = (struct relay_mirror){
		.relay = relay, .name = memory_copy(name), .side = side, .original = *identity};
	if (side == RELAY_WINE)
		(void)uv_pipe_init(relay->loop, &mirror->listener.pipe, 0);
	else
		(void)uv_tcp_init(relay->loop, &mirror->listener.tcp);
	mirror->listener.handle.data = mirror;
	relay->mirrors[relay->mirror_count++] = mirror;

	struct error err = {0};
	int rc = 0;
	if (side == RELAY_WINE) {
		char *path CLEANUP_FREE = relay_path(relay, RELAY_WINE, name);
		char *text CLEANUP_FREE = NULL;
		size_t size = 0;
		rc = file_read(path, RENDEZVOUS_TEXT_MAX, &text, &size, &err);
		if (rc == 0)
			rc = rendezvous_parse(text, size, &mirror->rendezvous, &err);
		if (rc == 0)
			rc = offer_socket(relay, mirror, &err);
	} else {
		rc = offer_port(relay, mirror, &err);
	}
	mirror->refused = rc < 0 || !identify(relay, other_side(side), name, &mirror->copy);
	if (mirror->refused)
		relay_note(relay, "%s/%s is not relayed: %s", relay->options.directories[side],
			   name, rc < 0 ? err.text : "its copy is gone");
}

void relay_scan(struct relay *relay)
{
	/* A file that was removed on either side is removed on both. */
	for (size_t i = relay->mirror_count; i-- > 0;) {
		struct relay_mirror *mirror = relay->mirrors[i];
		enum relay_side other = other_side(mirror->side);
		if (!is_still(relay, mirror->side, mirror->name, &mirror->original)) {
			drop(relay, i);
		} else if (!mirror->refused &&
			   !is_still(relay, other, mirror->name, &mirror->copy)) {
			remove_file(relay, mirror->side, mirror->name, &mirror->original);
			drop(relay, i);
		}
	}

	/* Rendezvous files appear by a rename: until then their names do not end in ".sock". */
	for (enum relay_side side = RELAY_KUBELET; side <= RELAY_WINE; side++) {
		struct text_list names CLEANUP_TEXT_LIST = {0};
		(void)file_list(relay->options.directories[side], &names, NULL);
		text_each (name, &names) {
			struct relay_identity identity = {0};
			bool known = false;
			for (size_t i = 0; i < relay->mirror_count; i++)
				known = known || strcmp(relay->mirrors[i]->name, name) == 0;
			if (!known && text_ends_with(name, ".sock") && name[0] != '.' &&
			    path_is_bare_name(name) && identify(relay, side, name, &identity))
				add(relay, side, name, &identity);
		}
	}
}

static void on_poll(void *relay)
{
	relay_scan(relay);
}

int relay_open(uv_loop_t *loop, const struct relay_options *options, struct relay **out,
	       struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(options->directories); i++) {
		if (!file_is_directory(options->directories[i]))
			return error_set(err, ERROR_NOT_FOUND, "%s: no such directory",
					 options->directories[i]);
	}
	struct relay *relay = memory_allocate(1, sizeof(*relay));
	relay->loop = loop;
	relay->options = *options;
	if (relay->options.nonce_ms == 0)
		relay->options.nonce_ms = RELAY_NONCE_MS;
	int rc = timer_start(loop, RELAY_POLL_MS, RELAY_POLL_MS, on_poll, relay, &relay->poll, err);
	if (rc < 0) {
		free(relay);
		return rc;
	}
	relay_scan(relay);
	*out = relay;
	return 0;
}

void relay_close(struct relay *relay)
{
	if (relay == NULL)
		return;
	while (relay->link_count > 0)
		relay_link_close(relay->links[0]);
	while (relay->mirror_count > 0)
		drop(relay, 0);
	timer_cancel(&relay->poll);
	free(relay);
}
