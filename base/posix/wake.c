/* SPDX-License-Identifier: MIT */
#include "base/wake.h"
#include "base/memory.h"

#include <stdlib.h>

struct wake {
	uv_poll_t poll;
	void (*on_wake)(void *user);
	void *user;
};

static void on_ready(uv_poll_t *poll, int status, int events)
{
	struct wake *wake = poll->data;
	(void)status;
	(void)events;
	wake->on_wake(wake->user);
}

int wake_start(uv_loop_t *loop, intptr_t object, void (*on_wake)(void *user), void *user,
	       struct wake **out, struct error *err)
{
	struct wake *wake = memory_allocate(1, sizeof(*wake));
	if (wake == NULL)
		return error_memory(err);
	*wake = (struct wake){.on_wake = on_wake, .user = user};
	int rc = uv_poll_init(loop, &wake->poll, (int)object);
	if (rc < 0) {
		free(wake);
		return error_uv(err, rc, "watching a descriptor");
	}
	wake->poll.data = wake;
	(void)uv_poll_start(&wake->poll, UV_READABLE, on_ready);
	*out = wake;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void wake_free(struct wake *wake)
{
	if (wake != NULL)
		uv_close((uv_handle_t *)&wake->poll, on_closed);
}
