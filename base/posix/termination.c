/* SPDX-License-Identifier: MIT */
#include "base/termination.h"

#include <signal.h>
#include <stdlib.h>

enum { HANDLES = 2 };

struct termination {
	uv_signal_t handles[HANDLES];
	void (*on_request)(const char *what, void *user);
	void *user;
	unsigned open_handles;
};

static void on_signal(uv_signal_t *handle, int number)
{
	struct termination *termination = handle->data;

	for (size_t i = 0; i < HANDLES; i++)
		(void)uv_signal_stop(&termination->handles[i]);
	termination->on_request(number == SIGTERM ? "SIGTERM" : "SIGINT", termination->user);
}

int termination_open(uv_loop_t *loop, void (*on_request)(const char *what, void *user), void *user,
		     struct termination **out, struct error *err)
{
	static const int numbers[HANDLES] = {SIGTERM, SIGINT};
	struct termination *termination = calloc(1, sizeof(*termination));

	if (termination == NULL)
		return error_memory(err);
	*termination = (struct termination){
		.on_request = on_request, .user = user, .open_handles = HANDLES};
	for (size_t i = 0; i < HANDLES; i++) {
		(void)uv_signal_init(loop, &termination->handles[i]);
		termination->handles[i].data = termination;
		(void)uv_signal_start(&termination->handles[i], on_signal, numbers[i]);
	}
	*out = termination;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct termination *termination = handle->data;

	if (--termination->open_handles == 0)
		free(termination);
}

void termination_close(struct termination *termination)
{
	for (size_t i = 0; termination != NULL && i < HANDLES; i++)
		uv_close((uv_handle_t *)&termination->handles[i], on_closed);
}
