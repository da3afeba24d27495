/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/faults.h"

#include "conformance/kubelet/internal.h"

#include <string.h>

static bool replaces_socket(enum fault fault)
{
	return fault >= FAULT_CONNECTION_SILENT && fault <= FAULT_SOCKET_ABSENT;
}

void faults_on_stream(struct kubelet_plugin *plugin)
{
	if (plugin->kubelet->faults.set[FAULT_LIST_STALL])
		kubelet_stream_pause(plugin->stream);
}

static void for_each_stream(struct kubelet *kubelet, void (*act)(struct kubelet_stream *stream))
{
	for (struct kubelet_plugin *plugin = kubelet->plugins; plugin != NULL;
	     plugin = plugin->next)
		if (plugin->stream != NULL)
			act(plugin->stream);
}

static void disconnect_all(struct kubelet *kubelet)
{
	for (struct kubelet_plugin *plugin = kubelet->plugins; plugin != NULL;
	     plugin = plugin->next)
		client_close_channel(plugin);
}

static int act_now(struct kubelet *kubelet, enum fault fault, struct error *err)
{
	switch ((int)fault) {
	case FAULT_LIST_CANCEL:
		for_each_stream(kubelet, kubelet_stream_cancel);
		return 0;
	case FAULT_DISCONNECT:
		disconnect_all(kubelet);
		return 0;
	case FAULT_PLUGIN_SOCKETS_REMOVED:
		return kubelet_restart(kubelet, KUBELET_RESTART_PLUGIN_SOCKETS, err);
	case FAULT_SOCKET_RECREATED:
		return kubelet_restart(kubelet, KUBELET_RESTART_KUBELET_SOCKET, err);
	default:
		return kubelet_restart(kubelet, KUBELET_RESTART_WHOLE, err);
	}
}

int faults_replace_socket(struct kubelet *kubelet, bool *replaced, struct error *err)
{
	static const enum fault_listener_kind kinds[FAULT_COUNT] = {
		[FAULT_CONNECTION_SILENT] = FAULT_LISTENER_SILENT,
		[FAULT_CONNECTION_GARBAGE] = FAULT_LISTENER_GARBAGE,
		[FAULT_CONNECTION_CLOSE] = FAULT_LISTENER_CLOSE,
		[FAULT_CONNECTION_REFUSE] = FAULT_LISTENER_REFUSE,
	};
	int fault = FAULT_CONNECTION_SILENT;
	while (fault <= FAULT_SOCKET_ABSENT && !kubelet->faults.set[fault])
		fault++;
	*replaced = fault <= FAULT_SOCKET_ABSENT;
	if (!*replaced || fault == FAULT_SOCKET_ABSENT)
		return 0;
	return fault_listener_open(kubelet->loop, kubelet->socket, kinds[fault],
				   &kubelet->faults.listener, err);
}

static void set_fault(struct kubelet *kubelet, const struct fault_setting *setting)
{
	if (replaces_socket(setting->fault))
		for (int other = FAULT_CONNECTION_SILENT; other <= FAULT_SOCKET_ABSENT; other++)
			kubelet->faults.set[other] = false;
	kubelet->faults.set[setting->fault] = true;
	kubelet->faults.settings[setting->fault] = *setting;
}

/* kubelet.sock closed and opened again, as the faults say. */
static int reopen(struct kubelet *kubelet, struct error *err)
{
	kubelet_unlisten(kubelet);
	return kubelet->running ? kubelet_listen(kubelet, err) : 0;
}

int kubelet_fault_check(const char *spec, struct error *err)
{
	struct fault_setting setting = {.fault = FAULT_COUNT};

	return fault_setting_parse(spec, &setting, err);
}

int kubelet_fault_set(struct kubelet *kubelet, const char *spec, struct error *err)
{
	struct fault_setting setting = {.fault = FAULT_COUNT};
	int rc = fault_setting_parse(spec, &setting, err);
	if (rc != 0)
		return rc;
	size_t count = 0;
	bool immediate = kubelet_faults(&count)[setting.fault].immediate;
	struct kubelet_event event = KUBELET_EVENT_EMPTY(FAULT);
	event.text = spec;
	kubelet_report(kubelet, event);
	if (immediate)
		return act_now(kubelet, setting.fault, err);
	set_fault(kubelet, &setting);
	if (setting.fault == FAULT_LIST_STALL)
		for_each_stream(kubelet, kubelet_stream_pause);
	return replaces_socket(setting.fault) ? reopen(kubelet, err) : 0;
}

int kubelet_fault_clear(struct kubelet *kubelet, const char *name, struct error *err)
{
	size_t count = 0;
	const struct kubelet_fault *faults = kubelet_faults(&count);
	bool socket_cleared = false;
	bool known = name == NULL;
	for (size_t i = 0; i < count; i++) {
		if (name != NULL && strcmp(name, faults[i].name) != 0)
			continue;
		known = true;
		if (!kubelet->faults.set[i])
			continue;
		kubelet->faults.set[i] = false;
		socket_cleared = socket_cleared || replaces_socket((enum fault)i);
		if (i == FAULT_LIST_STALL)
			for_each_stream(kubelet, kubelet_stream_resume);
	}
	if (!known)
		return error_set(err, ERROR_ARGUMENT, "no fault \"%s\"", name);
	return socket_cleared ? reopen(kubelet, err) : 0;
}
