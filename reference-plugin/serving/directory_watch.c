/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/directory_watch.h"

#include "reference-plugin/serving/socket_file.h"

#include <stdlib.h>
#include <string.h>

struct directory_watch {
	char *path;
	void (*on_change)(void *user);
	void *user;
	uv_fs_event_t events;
	uv_timer_t timer;
	struct socket_identity watched; /* the watched directory; inode 0: none */
};

static void on_timer(uv_timer_t *timer);

static void on_event(uv_fs_event_t *handle, const char *name, int events, int status)
{
	struct directory_watch *watch = handle->data;
	(void)name;
	(void)events;
	(void)status;
	if (uv_timer_get_due_in(&watch->timer) > DIRECTORY_WATCH_SETTLE_MS)
		(void)uv_timer_start(&watch->timer, on_timer, DIRECTORY_WATCH_SETTLE_MS, 0);
}

/* Watches the directory that is at the path now. On Windows libuv cannot start a watch again before
 * the end of a stopped one was processed, so this is done only when needed. */
static void look_again(struct directory_watch *watch)
{
	struct socket_identity now = socket_file_at(watch->path);
	if (now.device != watch->watched.device || now.inode != watch->watched.inode) {
		(void)uv_fs_event_stop(&watch->events);
		if (uv_fs_event_start(&watch->events, on_event, watch->path, 0) < 0)
			now = (struct socket_identity){0};
		watch->watched = now;
	}
	(void)uv_timer_start(&watch->timer, on_timer,
			     watch->watched.inode != 0 ? DIRECTORY_WATCH_POLL_MS
						       : DIRECTORY_WATCH_UNWATCHED_MS,
			     0);
}

static void on_timer(uv_timer_t *timer)
{
	struct directory_watch *watch = timer->data;
	look_again(watch);
	watch->on_change(watch->user);
}

int directory_watch_open(uv_loop_t *loop, const char *path, void (*on_change)(void *user),
			 void *user, struct directory_watch **out, struct error *err)
{
	struct directory_watch *watch = calloc(1, sizeof(*watch));
	char *copy = strdup(path);
	if (watch == NULL || copy == NULL) {
		free(watch);
		free(copy);
		return error_memory(err);
	}
	*watch = (struct directory_watch){.path = copy, .on_change = on_change, .user = user};
	(void)uv_fs_event_init(loop, &watch->events);
	(void)uv_timer_init(loop, &watch->timer);
	watch->events.data = watch;
	watch->timer.data = watch;
	look_again(watch);
	*out = watch;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct directory_watch *watch = handle->data;
	free(watch->path);
	free(watch);
}

static void on_events_closed(uv_handle_t *handle)
{
	struct directory_watch *watch = handle->data;
	uv_close((uv_handle_t *)&watch->timer, on_closed);
}

void directory_watch_close(struct directory_watch *watch)
{
	if (watch != NULL)
		uv_close((uv_handle_t *)&watch->events, on_events_closed);
}
