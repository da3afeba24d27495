/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/directory_watch.h"

#include "base/cleanup.h"
#include "reference-plugin/serving/socket_file.h"

#include <string.h>

enum { HANDLES = 3 };

struct directory_watch {
	char *path;
	void (*on_change)(void *user);
	void *user;
	uv_fs_event_t events;
	uv_timer_t settle;
	uv_timer_t poll;
	bool armed;
	uint64_t device, inode; /* of the directory that is watched */
	unsigned open_handles;
};

static void on_settled(uv_timer_t *timer)
{
	struct directory_watch *watch = timer->data;

	watch->on_change(watch->user);
}

static void on_event(uv_fs_event_t *handle, const char *name, int events, int status)
{
	struct directory_watch *watch = handle->data;

	(void)name;
	(void)events;
	(void)status;
	if (!uv_is_active((uv_handle_t *)&watch->settle))
		(void)uv_timer_start(&watch->settle, on_settled, DIRECTORY_WATCH_SETTLE_MS, 0);
}

/* Watches the directory that lies at the path now. */
static void arm(struct directory_watch *watch)
{
	struct socket_file now = socket_file_at(watch->path);

	if (watch->armed && now.device == watch->device && now.inode == watch->inode)
		return;
	(void)uv_fs_event_stop(&watch->events);
	watch->armed = uv_fs_event_start(&watch->events, on_event, watch->path, 0) == 0;
	watch->device = now.device;
	watch->inode = now.inode;
}

static void on_poll(uv_timer_t *timer)
{
	struct directory_watch *watch = timer->data;

	arm(watch);
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
	*watch = (struct directory_watch){
		.path = copy, .on_change = on_change, .user = user, .open_handles = HANDLES};
	(void)uv_fs_event_init(loop, &watch->events);
	(void)uv_timer_init(loop, &watch->settle);
	(void)uv_timer_init(loop, &watch->poll);
	watch->events.data = watch;
	watch->settle.data = watch;
	watch->poll.data = watch;
	(void)uv_timer_start(&watch->poll, on_poll, DIRECTORY_WATCH_POLL_MS,
			     DIRECTORY_WATCH_POLL_MS);
	arm(watch);
	*out = watch;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct directory_watch *watch = handle->data;

	if (--watch->open_handles > 0)
		return;
	free(watch->path);
	free(watch);
}

void directory_watch_close(struct directory_watch *watch)
{
	if (watch == NULL)
		return;
	uv_close((uv_handle_t *)&watch->events, on_closed);
	uv_close((uv_handle_t *)&watch->settle, on_closed);
	uv_close((uv_handle_t *)&watch->poll, on_closed);
}
