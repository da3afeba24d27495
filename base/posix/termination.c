/* SPDX-License-Identifier: MIT */
#include "base/termination.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <signal.h>
#include <stdlib.h>

/* Signals that end a program which does not handle them. */
static const struct {
	int number;
	const char *name;
} signals[] = {
	{SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGHUP, "SIGHUP"},
	{SIGQUIT, "SIGQUIT"}, {SIGUSR1, "SIGUSR1"},
};

enum { HANDLES = ARRAY_SIZE(signals) };

struct termination {
	uv_signal_t handles[HANDLES];
	void (*on_request)(const char *what, void *user);
	void *user;
	unsigned open_handles;
};

static volatile sig_atomic_t requests;
static void (*handle_by_libuv)(int number);

/* libuv delivers the signal to the loop, which may be blocked: a second request does not wait for it. */
static void count_request(int number)
{
	if (requests++ != 0) {
		(void)signal(number, SIG_DFL);
		(void)raise(number); /* once this handler has returned */
	}
	handle_by_libuv(number);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct termination *termination = handle->data;
	const char *name = "";
	for (size_t i = 0; i < HANDLES; i++) {
		(void)uv_signal_stop(&termination->handles[i]);
		if (signals[i].number == number)
			name = signals[i].name;
	}
	termination->on_request(name, termination->user);
}

int termination_open(uv_loop_t *loop, void (*on_request)(const char *what, void *user), void *user,
		     struct termination **out, struct error *err)
{
	struct termination *termination = memory_allocate(1, sizeof(*termination));
	if (termination == NULL)
		return error_memory(err);
	requests = 0;
	*termination = (struct termination){
		.on_request = on_request, .user = user, .open_handles = HANDLES};
	for (size_t i = 0; i < HANDLES; i++) {
		(void)uv_signal_init(loop, &termination->handles[i]);
		termination->handles[i].data = termination;
		/* Ignored under nohup(1): the end of the terminal must not end the program. */
		struct sigaction action = {0};
		if (signals[i].number == SIGHUP && sigaction(SIGHUP, NULL, &action) == 0 &&
		    action.sa_handler == SIG_IGN)
			continue;
		if (uv_signal_start(&termination->handles[i], on_signal, signals[i].number) < 0 ||
		    sigaction(signals[i].number, NULL, &action) < 0)
			continue;
		handle_by_libuv = action.sa_handler;
		action.sa_handler = count_request;
		(void)sigaction(signals[i].number, &action, NULL);
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
