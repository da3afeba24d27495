/* SPDX-License-Identifier: MIT */
#pragma once

/* Which faults are set, and reading them from text. faults.c applies them. */

#include "base/error.h"
#include "base/text.h"
#include "conformance/kubelet/fault_listener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault {
	FAULT_REGISTER_STATUS,
	FAULT_REGISTER_DELAY,
	FAULT_REGISTER_HANG,
	FAULT_CONNECTION_SILENT,
	FAULT_CONNECTION_GARBAGE,
	FAULT_CONNECTION_CLOSE,
	FAULT_CONNECTION_REFUSE,
	FAULT_SOCKET_ABSENT,
	FAULT_LIST_STALL,
	FAULT_LIST_CANCEL,
	FAULT_DISCONNECT,
	FAULT_PLUGIN_SOCKETS_REMOVED,
	FAULT_SOCKET_RECREATED,
	FAULT_RESTART,
	FAULT_COUNT
};

/* A fault as it was asked for. */
struct fault_setting {
	enum fault fault;
	uint64_t times; /* left; UINT64_MAX: until cleared */
	uint64_t delay_ms;
	int code;
	char message[256];
};

struct fault_state {
	bool set[FAULT_COUNT];
	struct fault_setting settings[FAULT_COUNT];
	struct fault_listener *listener; /* in place of the server, for the connection-* faults */
};

/* What Register is to be answered with instead of being looked at. */
struct fault_answer {
	bool hang;
	int code;
	const char *message; /* valid until the fault is set again */
};

/* "NAME[=VALUE][*TIMES]" as faults.h describes it. ERROR_ARGUMENT. */
int fault_setting_parse(const char *spec, struct fault_setting *out, struct error *err);

/* Each counts as one occurrence. False and 0: no such fault is set. */
bool fault_take_answer(struct fault_state *state, struct fault_answer *out);
uint64_t fault_take_delay(struct fault_state *state);
