/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/kubelet/endpoints.h"

#include <stdio.h>
#include <string.h>

static const char *const names[FAULT_COUNT + 1] = {
	[FAULT_REGISTER_STATUS] = "register-status",
	[FAULT_REGISTER_DELAY] = "register-delay",
	[FAULT_REGISTER_HANG] = "register-hang",
	[FAULT_CONNECTION_SILENT] = "connection-silent",
	[FAULT_CONNECTION_GARBAGE] = "connection-garbage",
	[FAULT_CONNECTION_CLOSE] = "connection-close",
	[FAULT_CONNECTION_REFUSE] = "connection-refuse",
	[FAULT_SOCKET_ABSENT] = "socket-absent",
	[FAULT_LIST_STALL] = "list-stall",
};

const char *const *kubelet_fault_names(void)
{
	return names;
}

static int parse_status(char *value, struct fault_setting *out, struct error *err)
{
	char *colon = strchr(value, ':');
	long long number = 0;
	if (colon != NULL) {
		*colon = '\0';
		(void)snprintf(out->message, sizeof(out->message), "%s", colon + 1);
	}
	for (out->code = RPC_OK; out->code <= RPC_UNAUTHENTICATED; out->code++) {
		if (strcmp(value, rpc_code_name(out->code)) == 0)
			return 0;
	}
	if (text_to_int64(value, "status", RPC_OK, RPC_UNAUTHENTICATED, &number, NULL) != 0)
		return error_set(err, ERROR_ARGUMENT, "\"%s\" is not a gRPC status code", value);
	out->code = (int)number;
	return 0;
}

int fault_setting_parse(const char *spec, struct fault_setting *out, struct error *err)
{
	char *name CLEANUP_FREE = memory_copy(spec);
	struct fault_setting setting = {.times = UINT64_MAX};
	long long times = 0;
	long long delay_ms = 0;
	int rc = 0;

	char *star = strrchr(name, '*');
	if (star != NULL) {
		*star = '\0';
		rc = text_to_int64(star + 1, "times", 1, 1000000, &times, err);
		if (rc < 0)
			return error_wrap(err, rc, "fault %s", name);
		setting.times = (uint64_t)times;
	}
	char *value = strchr(name, '=');
	if (value != NULL)
		*value++ = '\0';
	setting.fault = (enum fault)text_position(names, name);
	if (setting.fault == FAULT_COUNT)
		return error_set(err, ERROR_ARGUMENT, "there is no fault \"%s\"", name);

	bool has_status = setting.fault == FAULT_REGISTER_STATUS;
	bool has_delay = setting.fault == FAULT_REGISTER_DELAY;
	bool needed = has_status || has_delay;
	if (needed != (value != NULL))
		return error_set(err, ERROR_ARGUMENT, "fault %s %s", name,
				 needed ? "needs a value" : "takes no value");
	if (has_status)
		rc = parse_status(value, &setting, err);
	if (has_delay)
		rc = text_to_int64(value, name, 0, 24LL * 3600 * 1000, &delay_ms, err);
	if (rc < 0)
		return error_wrap(err, rc, "fault %s", name);
	setting.delay_ms = (uint64_t)delay_ms;
	*out = setting;
	return 0;
}

const struct fault_setting *fault_take(struct fault_state *state, enum fault fault)
{
	struct fault_setting *setting = &state->settings[fault];
	if (setting->times == 0)
		return NULL;
	if (setting->times != UINT64_MAX)
		setting->times--;
	return setting;
}

static bool replaces_socket(enum fault fault)
{
	return fault >= FAULT_CONNECTION_SILENT && fault <= FAULT_SOCKET_ABSENT;
}

int faults_replace_socket(struct kubelet *kubelet, bool *replaced, struct error *err)
{
	struct fault_state *faults = &kubelet->faults;
	enum fault fault = FAULT_CONNECTION_SILENT;
	while (replaces_socket(fault) && faults->settings[fault].times == 0)
		fault++;
	*replaced = replaces_socket(fault);
	if (!*replaced || fault == FAULT_SOCKET_ABSENT)
		return 0;
	return fault_listener_open(kubelet->loop, kubelet->socket, fault, &faults->listener, err);
}

int kubelet_fault_check(const char *spec, struct error *err)
{
	struct fault_setting setting = {0};
	return fault_setting_parse(spec, &setting, err);
}

int kubelet_fault_set(struct kubelet *kubelet, const char *spec, struct error *err)
{
	struct fault_setting setting = {0};
	int rc = fault_setting_parse(spec, &setting, err);
	if (rc != 0)
		return rc;
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_FAULT);
	event.text = spec;
	kubelet_report(kubelet, event);
	if (replaces_socket(setting.fault)) {
		for (enum fault other = FAULT_CONNECTION_SILENT; replaces_socket(other); other++)
			kubelet->faults.settings[other].times = 0;
	}
	kubelet->faults.settings[setting.fault] = setting;
	if (setting.fault == FAULT_LIST_STALL) {
		for (struct kubelet_plugin *plugin = kubelet->plugins; plugin != NULL;
		     plugin = plugin->next)
			if (plugin->stream != NULL)
				kubelet_stream_pause(plugin->stream);
	}
	return replaces_socket(setting.fault) ? kubelet_reopen(kubelet, err) : 0;
}
