/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/kubelet/endpoints.h"
#include "rpc/proto/pluginregistration_v1.pb-c.h"
#include "rpc/resource_name.h"
#include "rpc/socket.h"

#include <ctype.h>
#include <string.h>

/*
 * The plugin watcher (pkg/kubelet/pluginmanager): sockets that appear below plugins_registry are
 * identified, registered, and notified of the outcome; sockets that disappear are deregistered.
 */

#define REGISTRATION_SERVICE "/pluginregistration.Registration/"
#define REGISTER_ERROR	     "RegisterPlugin error -- "

enum {
	DIRECTORY_MODE = 0750,
	ENTRIES_MAX = 1024,
	DIRECTORIES_MAX = 4096, /* read by one scan, at any depth */
	RECONCILE_MS = 1000,
	DIAL_MS = 10 * 1000,
	GET_INFO_MS = 1000,
	NOTIFY_MS = 5 * 1000,
	/* goroutinemap/exponentialbackoff: durations between attempts at one socket. */
	BACKOFF_FIRST_MS = 500,
	BACKOFF_LAST_MS = (2 * 60 + 2) * 1000,
};

enum entry_state { ENTRY_NEW, ENTRY_BUSY, ENTRY_REGISTERED, ENTRY_FAILED };

/* One socket below plugins_registry. */
struct entry {
	struct watcher *watcher; /* NULL once it is stopped */
	struct entry *next;
	char *path;
	struct socket_identity identity;
	bool present; /* found by the last scan */
	enum entry_state state;
	uint64_t retry_ms, backoff_ms; /* kubelet_elapsed_ms() */
	struct dial *dial;
	struct rpc_channel *channel;
	char *plugin_name, *plugin_socket; /* what was registered */
	char *refusal;			   /* NULL: registered */
};

struct watcher {
	struct kubelet *kubelet;
	struct entry *entries;
	size_t entry_count, directory_count;
	struct timer *reconcile; /* sockets appear and disappear only then, as in reconciler.go */
};

static void report(const struct entry *entry, enum kubelet_event_type type, const char *text)
{
	struct kubelet_event event = kubelet_event_of(type);
	event.socket = entry->path;
	event.text = text;
	kubelet_report(entry->watcher->kubelet, event);
}

static void entry_hang_up(struct entry *entry)
{
	rpc_channel_close(STEAL(entry->channel));
}

static void entry_fail(struct entry *entry)
{
	entry_hang_up(entry);
	entry->state = ENTRY_FAILED;
	entry->backoff_ms = entry->backoff_ms == 0 ? BACKOFF_FIRST_MS : entry->backoff_ms * 2;
	if (entry->backoff_ms > BACKOFF_LAST_MS)
		entry->backoff_ms = BACKOFF_LAST_MS;
	entry->retry_ms = kubelet_elapsed_ms(entry->watcher->kubelet) + entry->backoff_ms;
}

/* DeRegisterPlugin. */
static void entry_deregister(const struct entry *entry)
{
	if (entry->state == ENTRY_REGISTERED)
		client_disconnect_holder(entry->watcher->kubelet, entry->plugin_name,
					 entry->plugin_socket);
}

/* A plugin that cannot be notified is deregistered again (operation_generator.go). */
static void notify_failed(struct entry *entry, const char *cause)
{
	char *text CLEANUP_FREE =
		text_format(REGISTER_ERROR "failed to send %s at socket %s, err: : %s",
			    entry->state == ENTRY_REGISTERED ? "registration status" : "error",
			    entry->path, cause);
	report(entry, KUBELET_EVENT_WATCHER_NOTIFIED, text);
	entry_deregister(entry);
	entry_fail(entry);
}

static void on_notified(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct entry *entry = user;
	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
	if (entry->watcher == NULL)
		return;
	if (status->code != RPC_OK) {
		char *cause CLEANUP_FREE = go_status_text(status->code, status->message);
		notify_failed(entry, cause);
		return;
	}
	report(entry, KUBELET_EVENT_WATCHER_NOTIFIED, entry->refusal);
	if (entry->state == ENTRY_REGISTERED)
		entry_hang_up(entry);
	else
		entry_fail(entry);
}

/* NotifyRegistrationStatus; `error` NULL means registered. */
static void notify(struct entry *entry, const char *error)
{
	Pluginregistration__RegistrationStatus status;
	struct error err = {0};
	pluginregistration__registration_status__init(&status);
	status.plugin_registered = error == NULL;
	free(entry->refusal);
	entry->refusal = error == NULL ? NULL : text_format(REGISTER_ERROR "%s", error);
	if (error == NULL)
		entry->state = ENTRY_REGISTERED;
	else
		status.error = entry->refusal;
	if (rpc_unary(entry->channel, REGISTRATION_SERVICE "NotifyRegistrationStatus", &status.base,
		      &pluginregistration__registration_status_response__descriptor, NOTIFY_MS,
		      on_notified, entry, NULL, &err) != 0)
		notify_failed(entry, err.text);
}

static void on_registered(const struct kubelet_registration *registration, void *user)
{
	struct entry *entry = user;
	if (entry->watcher == NULL || entry->channel == NULL)
		return;
	if (registration->code == RPC_OK) {
		notify(entry, NULL);
		return;
	}
	char *text CLEANUP_FREE =
		text_format("plugin registration failed with err: %s", registration->message);
	notify(entry, text);
}

static void join_versions(const Pluginregistration__PluginInfo *info, const char *separator,
			  struct text *out)
{
	for (size_t i = 0; i < info->n_supported_versions; i++)
		text_addf(out, "%s%s", i == 0 ? "" : separator, info->supported_versions[i]);
}

/* The socket of an endpoint, which a plugin may name as it sees it. Caller frees. */
static char *find_socket(const struct entry *entry, const char *endpoint)
{
	const struct kubelet_options *options = &entry->watcher->kubelet->options;
	const char *seen = options->registry_dir_seen;
	if (endpoint[0] == '\0')
		return memory_copy(entry->path);
	if (seen != NULL && text_starts_with(endpoint, seen) && endpoint[strlen(seen)] == '/')
		return path_join(options->registry_dir, endpoint + strlen(seen) + 1);
	return memory_copy(endpoint);
}

/* ValidatePlugin and RegisterPlugin of the device plugin's handler. */
static void register_plugin(struct entry *entry, const Pluginregistration__PluginInfo *info)
{
	struct text refusal CLEANUP_TEXT = {0};
	struct text versions CLEANUP_TEXT = {0};
	bool has_version = false;
	items_each (version, info->supported_versions, info->n_supported_versions)
		has_version = has_version || strcmp(*version, DEVICE_PLUGIN_VERSION) == 0;

	if (strcmp(info->type, "DevicePlugin") != 0) {
		text_addf(&refusal, "no handler registered for plugin type: %s at socket %s",
			  info->type, entry->path);
	} else if (!has_version) {
		text_add(
			&refusal,
			"plugin validation failed with err: manager version, " DEVICE_PLUGIN_VERSION
			", is not among plugin supported versions [");
		join_versions(info, " ", &refusal);
		text_add(&refusal, "]");
	} else if (resource_name_check(info->name, NULL) < 0) {
		text_add(
			&refusal,
			"plugin validation failed with err: invalid name of device plugin socket: the ResourceName ");
		go_quote(&refusal, info->name);
		text_add(&refusal, " is invalid");
	}
	if (refusal.size != 0) {
		notify(entry, text_string(&refusal));
		return;
	}

	free(entry->plugin_name);
	free(entry->plugin_socket);
	entry->plugin_name = memory_copy(info->name);
	entry->plugin_socket = find_socket(entry, info->endpoint);
	join_versions(info, ",", &versions);
	registration_by_watcher(entry->watcher->kubelet, entry->plugin_name, entry->plugin_socket,
				text_string(&versions), on_registered, entry);
}

static void on_info(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct entry *entry = user;
	Pluginregistration__PluginInfo *info = (Pluginregistration__PluginInfo *)(void *)reply;
	if (entry->watcher != NULL) {
		struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_WATCHER_INFO);
		event.socket = entry->path;
		event.code = status->code;
		event.text = info == NULL ? status->message : info->type;
		event.resource = info == NULL ? NULL : info->name;
		event.endpoint = info == NULL ? NULL : info->endpoint;
		kubelet_report(entry->watcher->kubelet, event);
		if (info != NULL)
			register_plugin(entry, info);
		else
			entry_fail(entry);
	}
	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
}

static void dial_failed(struct entry *entry, const char *cause)
{
	char *text CLEANUP_FREE = text_format(
		REGISTER_ERROR "dial failed at socket %s, err: failed to dial socket %s, err: %s",
		entry->path, entry->path, cause);
	report(entry, KUBELET_EVENT_WATCHER_INFO, text);
	entry_fail(entry);
}

static void on_dialled(const struct dial_result *result, void *user)
{
	struct entry *entry = user;
	Pluginregistration__InfoRequest request = PLUGINREGISTRATION__INFO_REQUEST__INIT;
	struct error err = {0};
	entry->channel = result->channel;
	if (result->channel == NULL) {
		char *cause CLEANUP_FREE =
			text_format("context deadline exceeded (%s)", result->reason);
		dial_failed(entry, cause);
		return;
	}
	if (rpc_unary(entry->channel, REGISTRATION_SERVICE "GetInfo", &request.base,
		      &pluginregistration__plugin_info__descriptor, GET_INFO_MS, on_info, entry,
		      NULL, &err) != 0) {
		kubelet_report_problem(entry->watcher->kubelet, &err);
		entry_fail(entry);
	}
}

static void entry_register(struct entry *entry)
{
	static const char kept[] = "-_.~!$&'()*+,;=:[]@";
	struct kubelet *kubelet = entry->watcher->kubelet;
	struct text refusal CLEANUP_TEXT = {0};
	struct text authority CLEANUP_TEXT = {0};
	struct error err = {0};
	char *path CLEANUP_FREE = dial_path(entry->path, &refusal);
	entry_hang_up(entry);
	dial_free(entry->dial);
	entry->dial = NULL;
	entry->state = ENTRY_BUSY;
	if (path == NULL) {
		dial_failed(entry, text_string(&refusal));
		return;
	}

	/* The watcher's client does not set an authority, so grpc-go sends the percent-encoded path
	 * (PR #112597; clientconn.go, encodeAuthority). */
	for (const char *at = path; *at != '\0'; at++) {
		if (isalnum((unsigned char)*at) || strchr(kept, *at) != NULL)
			text_append(&authority, at, 1);
		else
			text_addf(&authority, "%%%02X", (unsigned char)*at);
	}
	if (dial_start(kubelet->loop, path, text_string(&authority), DIAL_MS, on_dialled, entry,
		       &entry->dial, &err) < 0) {
		kubelet_report_problem(kubelet, &err);
		entry_fail(entry);
	}
}

/* The registration that is under way must not call back. */
static void entry_forget(struct entry *entry)
{
	registrations_forget_user(entry->watcher->kubelet, entry);
	entry->watcher = NULL;
	entry_hang_up(entry);
	dial_free(entry->dial);
	free(entry->path);
	free(entry->plugin_name);
	free(entry->plugin_socket);
	free(entry->refusal);
	free(entry);
}

static void entry_seen(struct watcher *watcher, const char *path,
		       const struct socket_identity *identity)
{
	struct entry *entry = watcher->entries;
	while (entry != NULL && strcmp(entry->path, path) != 0)
		entry = entry->next;
	if (entry != NULL && socket_is_same(&entry->identity, identity)) {
		entry->present = true;
		return;
	}
	/* A replaced socket disappears first; the next scan finds the new one. */
	if (entry != NULL || watcher->entry_count >= ENTRIES_MAX)
		return;

	entry = memory_allocate(1, sizeof(*entry));
	entry->path = memory_copy(path);
	entry->watcher = watcher;
	entry->identity = *identity;
	entry->present = true;
	entry->next = watcher->entries;
	watcher->entries = entry;
	watcher->entry_count++;
	report(entry, KUBELET_EVENT_WATCHER_SOCKET, "appeared");
}

static void scan(struct watcher *watcher, const char *directory)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (++watcher->directory_count > DIRECTORIES_MAX || file_list(directory, &names, NULL) != 0)
		return;
	text_each (name, &names) {
		char *path CLEANUP_FREE = path_join(directory, name);
		struct socket_identity identity;
		struct file_status status = {0};
		if (name[0] == '.')
			continue;
		/* filepath.Walk does not follow links. */
		if (socket_is_at(path) && socket_identify(path, &identity))
			entry_seen(watcher, path, &identity);
		else if (file_status(path, false, &status, NULL) == 0 &&
			 status.kind == FILE_DIRECTORY)
			scan(watcher, path);
	}
}

static void reconcile(void *user)
{
	struct watcher *watcher = user;
	chain_each (entry, watcher->entries)
		entry->present = false;
	watcher->directory_count = 0;
	scan(watcher, watcher->kubelet->registry_dir);

	struct entry **link = &watcher->entries;
	while (*link != NULL) {
		struct entry *entry = *link;
		if (entry->present) {
			link = &entry->next;
			continue;
		}
		*link = entry->next;
		watcher->entry_count--;
		report(entry, KUBELET_EVENT_WATCHER_SOCKET, "disappeared");
		entry_deregister(entry);
		entry_forget(entry);
	}

	uint64_t now_ms = kubelet_elapsed_ms(watcher->kubelet);
	chain_each (entry, watcher->entries) {
		if (entry->state == ENTRY_NEW ||
		    (entry->state == ENTRY_FAILED && now_ms > entry->retry_ms))
			entry_register(entry);
	}
}

int watcher_start(struct kubelet *kubelet, struct error *err)
{
	int rc = file_make_directories(kubelet->registry_dir, DIRECTORY_MODE, err);
	if (rc != 0)
		return rc;
	struct watcher *watcher = memory_allocate(1, sizeof(*watcher));
	watcher->kubelet = kubelet;
	kubelet->watcher = watcher;
	return timer_start(kubelet->loop, 0, RECONCILE_MS, reconcile, watcher, &watcher->reconcile,
			   err);
}

void watcher_stop(struct kubelet *kubelet)
{
	struct watcher *watcher = STEAL(kubelet->watcher);
	if (watcher == NULL)
		return;
	timer_cancel(&watcher->reconcile);
	while (watcher->entries != NULL) {
		struct entry *entry = watcher->entries;
		watcher->entries = entry->next;
		entry_forget(entry);
	}
	free(watcher);
}
