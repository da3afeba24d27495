/* SPDX-License-Identifier: MIT */
#pragma once

/* Which faults are set, and the socket that does not speak gRPC in place of kubelet.sock (faults.c). */

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct kubelet;
struct kubelet_plugin;
struct timer;

enum fault {
	FAULT_REGISTER_STATUS,
	FAULT_WATCHER_STATUS,
	FAULT_REGISTER_DELAY,
	FAULT_REGISTER_HANG,
	FAULT_REGISTER_MALFORMED,
	FAULT_CONNECTION_SILENT,
	FAULT_CONNECTION_GARBAGE,
	FAULT_CONNECTION_CLOSE,
	FAULT_CONNECTION_REFUSE,
	FAULT_SOCKET_ABSENT,
	FAULT_LIST_STALL,
	FAULT_LIST_TWICE,
	FAULT_LIST_CANCEL,
	FAULT_DISCONNECT,
	FAULT_OPTIONS_TWICE,
	FAULT_FLAP,
	FAULT_COUNT
};

/* A requested fault. */
struct fault_setting {
	enum fault fault;
	uint64_t times; /* left; UINT64_MAX: no limit, 0: it is not set */
	uint64_t delay_ms;
	int code;
	char message[256];
};

struct fault_state {
	struct fault_setting settings[FAULT_COUNT];
	struct timer *flap;
	struct fault_listener *listener; /* in place of the server, for the connection-* faults */
};

/* "NAME[=VALUE][*TIMES]" as kubelet.h describes it. ERROR_ARGUMENT. */
int fault_setting_parse(const char *spec, struct fault_setting *out, struct error *err);

/* One occurrence of the fault; NULL when it is not set. */
const struct fault_setting *fault_take(struct fault_state *state, enum fault fault);

/* Opens the listener that replaces kubelet.sock, if a connection-* fault is set. The path must be
 * free. ERROR_EXISTS, ERROR_IO. */
int faults_replace_socket(struct kubelet *kubelet, bool *replaced, struct error *err);

/* The stream of ListAndWatch was opened, or the fault is set: does what list-twice, list-cancel and disconnect
 * ask for. */
void faults_on_stream(struct kubelet_plugin *plugin);

/* Closes every connection and removes the socket. NULL is allowed. */
void fault_listener_close(struct fault_listener *listener);
