/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/fault_state.h"

#include "base/cleanup.h"
#include "conformance/kubelet/faults.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <string.h>

static const struct kubelet_fault fault_table[FAULT_COUNT] = {
	[FAULT_REGISTER_STATUS] = {"register-status",
				   "Register is answered with this status, unexamined",
				   KUBELET_FAULT_STATUS, false},
	[FAULT_REGISTER_DELAY] = {"register-delay",
				  "the answer to Register is held back, and ListAndWatch with it",
				  KUBELET_FAULT_MILLISECONDS, false},
	[FAULT_REGISTER_HANG] = {"register-hang", "Register is never answered",
				 KUBELET_FAULT_NO_VALUE, false},
	[FAULT_CONNECTION_SILENT] = {"connection-silent",
				     "kubelet.sock accepts and never says anything",
				     KUBELET_FAULT_NO_VALUE, false},
	[FAULT_CONNECTION_GARBAGE] = {"connection-garbage",
				      "kubelet.sock writes bytes that are no HTTP/2 and closes",
				      KUBELET_FAULT_NO_VALUE, false},
	[FAULT_CONNECTION_CLOSE] = {"connection-close", "kubelet.sock accepts and closes at once",
				    KUBELET_FAULT_NO_VALUE, false},
	[FAULT_CONNECTION_REFUSE] = {"connection-refuse",
				     "kubelet.sock is there, but nobody listens",
				     KUBELET_FAULT_NO_VALUE, false},
	[FAULT_SOCKET_ABSENT] = {"socket-absent", "kubelet.sock is removed", KUBELET_FAULT_NO_VALUE,
				 false},
	[FAULT_LIST_STALL] = {"list-stall",
			      "ListAndWatch is not read, so that flow control stops the plugin",
			      KUBELET_FAULT_NO_VALUE, false},
	[FAULT_LIST_CANCEL] = {"list-cancel", "every ListAndWatch is cancelled",
			       KUBELET_FAULT_NO_VALUE, true},
	[FAULT_DISCONNECT] = {"disconnect", "every connection to a plugin is closed",
			      KUBELET_FAULT_NO_VALUE, true},
	[FAULT_PLUGIN_SOCKETS_REMOVED] = {"plugin-sockets-removed",
					  "every plugin socket is unlinked, connections stay",
					  KUBELET_FAULT_NO_VALUE, true},
	[FAULT_SOCKET_RECREATED] =
		{"socket-recreated",
		 "kubelet.sock is removed and created again, plugin sockets stay",
		 KUBELET_FAULT_NO_VALUE, true},
	[FAULT_RESTART] = {"restart",
			   "the kubelet restarts: plugin sockets go, kubelet.sock appears again",
			   KUBELET_FAULT_NO_VALUE, true},
};

const struct kubelet_fault *kubelet_faults(size_t *count)
{
	*count = FAULT_COUNT;
	return fault_table;
}

static int find_fault(const char *name, size_t size, enum fault *out, struct error *err)
{
	for (size_t i = 0; i < FAULT_COUNT; i++) {
		if (strlen(fault_table[i].name) == size &&
		    strncmp(fault_table[i].name, name, size) == 0) {
			*out = (enum fault)i;
			return 0;
		}
	}
	return error_set(err, ERROR_ARGUMENT, "no fault \"%.*s\"", (int)size, name);
}

static int parse_code(const char *text, int *out, struct error *err)
{
	for (int code = RPC_OK; code <= RPC_UNAUTHENTICATED; code++) {
		if (strcmp(text, rpc_code_name(code)) == 0) {
			*out = code;
			return 0;
		}
	}
	long long number = 0;
	if (text_to_int64(text, "status", RPC_OK, RPC_UNAUTHENTICATED, &number, NULL) != 0)
		return error_set(err, ERROR_ARGUMENT, "\"%s\" is no gRPC status code", text);
	*out = (int)number;
	return 0;
}

static int parse_status(char *value, struct fault_setting *out, struct error *err)
{
	char *colon = strchr(value, ':');
	if (colon != NULL) {
		*colon = '\0';
		(void)snprintf(out->message, sizeof(out->message), "%s", colon + 1);
	}
	return parse_code(value, &out->code, err);
}

static int parse_value(char *value, struct fault_setting *out, struct error *err)
{
	const struct kubelet_fault *fault = &fault_table[out->fault];
	long long number = 0;
	int rc = 0;
	switch (fault->value) {
	case KUBELET_FAULT_NO_VALUE:
		return value == NULL ? 0
				     : error_set(err, ERROR_ARGUMENT, "fault %s takes no value",
						 fault->name);
	case KUBELET_FAULT_MILLISECONDS:
		if (value != NULL)
			rc = text_to_int64(value, fault->name, 0, 24LL * 3600 * 1000, &number, err);
		out->delay_ms = (uint64_t)number;
		break;
	case KUBELET_FAULT_STATUS:
		if (value != NULL)
			rc = parse_status(value, out, err);
		break;
	}
	if (value == NULL)
		return error_set(err, ERROR_ARGUMENT, "fault %s needs a value", fault->name);
	return rc == 0 ? 0 : error_wrap(err, rc, "fault %s", fault->name);
}

int fault_setting_parse(const char *spec, struct fault_setting *out, struct error *err)
{
	char *copy CLEANUP_FREE = strdup(spec);
	struct fault_setting setting = {.times = UINT64_MAX};
	if (copy == NULL)
		return error_memory(err);
	char *star = strrchr(copy, '*');
	if (star != NULL) {
		long long times = 0;
		*star = '\0';
		int rc = text_to_int64(star + 1, "times", 1, 1000000, &times, err);
		if (rc != 0)
			return error_wrap(err, rc, "fault %s", copy);
		setting.times = (uint64_t)times;
	}
	char *equals = strchr(copy, '=');
	size_t size = equals == NULL ? strlen(copy) : (size_t)(equals - copy);
	int rc = find_fault(copy, size, &setting.fault, err);
	if (rc == 0)
		rc = parse_value(equals == NULL ? NULL : equals + 1, &setting, err);
	if (rc == 0)
		*out = setting;
	return rc;
}

/* One occurrence of a fault; NULL when it is not set. */
static const struct fault_setting *take(struct fault_state *state, enum fault fault)
{
	struct fault_setting *setting = &state->settings[fault];
	if (!state->set[fault])
		return NULL;
	if (setting->times != UINT64_MAX && --setting->times == 0)
		state->set[fault] = false;
	return setting;
}

bool fault_take_answer(struct fault_state *state, struct fault_answer *out)
{
	const struct fault_setting *setting = take(state, FAULT_REGISTER_STATUS);
	if (setting != NULL) {
		*out = (struct fault_answer){.code = setting->code, .message = setting->message};
		return true;
	}
	out->hang = take(state, FAULT_REGISTER_HANG) != NULL;
	return out->hang;
}

uint64_t fault_take_delay(struct fault_state *state)
{
	const struct fault_setting *setting = take(state, FAULT_REGISTER_DELAY);
	return setting == NULL ? 0 : setting->delay_ms;
}
