/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "conformance/kubelet/endpoints.h"
#include "rpc/proto/pluginregistration_v1.pb-c.h"
#include "rpc/resource_name.h"
#include "rpc/socket.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/*
 * The plugin watcher (pkg/kubelet/pluginmanager): sockets that appear below plugins_registry are
 * asked who they are, registered, and told the outcome; sockets that disappear are deregistered.
 */

#define REGISTRATION_SERVICE "/pluginregistration.Registration/"
#define REGISTER_ERROR	     "RegisterPlugin error -- "

enum {
	DIRECTORY_MODE = 0750,
	ENTRIES_MAX = 1024,
	DIRECTORIES_MAX = 4096, /* looked into by one scan, at any depth that a path can have */
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
};

struct watcher {
	struct kubelet *kubelet;
	struct entry *entries;
	size_t entry_count, directory_count;
	struct timer *reconcile; /* only it notices sockets that come and go, as in reconciler.go */
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

/* A plugin that cannot be told that it is registered is deregistered again
 * (operation_generator.go). */
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
		notify_failed(entry, cause == NULL ? "" : cause);
		return;
	}
	report(entry, KUBELET_EVENT_WATCHER_NOTIFIED, NULL);
	if (entry->state == ENTRY_REGISTERED)
		entry_hang_up(entry);
	else
		entry_fail(entry);
}

/* NotifyRegistrationStatus; `error` NULL means registered. */
static void notify(struct entry *entry, const char *error)
{
	Pluginregistration__RegistrationStatus status;
	char *copy CLEANUP_FREE = error == NULL ? NULL : text_format(REGISTER_ERROR "%s", error);
	struct error err = {0};
	pluginregistration__registration_status__init(&status);
	status.plugin_registered = error == NULL;
	if (error == NULL)
		entry->state = ENTRY_REGISTERED;
	if (copy != NULL)
		status.error = copy;
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
	char *text CLEANUP_FREE =
		text_format("plugin registration failed with err: %s", registration->message);
	notify(entry, registration->code == RPC_OK ? NULL : text == NULL ? "" : text);
}

static void report_info(const struct entry *entry, const struct rpc_status *status,
			const Pluginregistration__PluginInfo *info)
{
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_WATCHER_INFO);
	event.socket = entry->path;
	event.code = status->code;
	event.text = info == NULL ? status->message : info->type;
	event.resource = info == NULL ? NULL : info->name;
	event.endpoint = info == NULL ? NULL : info->endpoint;
	kubelet_report(entry->watcher->kubelet, event);
}

static bool names_version(const Pluginregistration__PluginInfo *info)
{
	for (size_t i = 0; i < info->n_supported_versions; i++)
		if (strcmp(info->supported_versions[i], DEVICE_PLUGIN_VERSION) == 0)
			return true;
	return false;
}

static void join_versions(const Pluginregistration__PluginInfo *info, const char *separator,
			  struct text *out)
{
	for (size_t i = 0; i < info->n_supported_versions; i++)
		text_addf(out, "%s%s", i == 0 ? "" : separator, info->supported_versions[i]);
}

static int entry_register_plugin(struct entry *entry, const Pluginregistration__PluginInfo *info,
				 struct error *err)
{
	struct text versions CLEANUP_TEXT = {0};
	free(entry->plugin_name);
	free(entry->plugin_socket);
	entry->plugin_name = strdup(info->name);
	entry->plugin_socket = strdup(info->endpoint[0] == '\0' ? entry->path : info->endpoint);
	if (entry->plugin_name == NULL || entry->plugin_socket == NULL)
		return error_memory(err);
	join_versions(info, ",", &versions);
	return registration_by_watcher(entry->watcher->kubelet, entry->plugin_name,
				       entry->plugin_socket, text_string(&versions), on_registered,
				       entry, err);
}

/* ValidatePlugin and RegisterPlugin of the device plugin's handler. */
static void register_plugin(struct entry *entry, const Pluginregistration__PluginInfo *info)
{
	struct text refusal CLEANUP_TEXT = {0};
	struct error err = {0};
	if (strcmp(info->type, "DevicePlugin") != 0) {
		text_addf(&refusal, "no handler registered for plugin type: %s at socket %s",
			  info->type, entry->path);
	} else if (!names_version(info)) {
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
	} else {
		if (entry_register_plugin(entry, info, &err) == 0)
			return;
		text_add(&refusal, err.text);
	}
	notify(entry, text_string(&refusal));
}

static void on_info(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct entry *entry = user;
	Pluginregistration__PluginInfo *info = (Pluginregistration__PluginInfo *)(void *)reply;
	if (entry->watcher != NULL) {
		report_info(entry, status, info);
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
		dial_failed(entry, cause == NULL ? "" : cause);
		return;
	}
	if (rpc_unary(entry->channel, REGISTRATION_SERVICE "GetInfo", &request.base,
		      &pluginregistration__plugin_info__descriptor, GET_INFO_MS, on_info, entry,
		      NULL, &err) != 0) {
		kubelet_report_problem(entry->watcher->kubelet, &err);
		entry_fail(entry);
	}
}

/* The watcher's client does not set an authority, so grpc-go sends the percent-encoded path (PR
 * #112597; clientconn.go, encodeAuthority). */
static char *authority_of(const char *path)
{
	static const char kept[] = "-_.~!$&'()*+,;=:[]@";
	struct text text CLEANUP_TEXT = {0};
	for (const char *at = path; *at != '\0'; at++) {
		if (isalnum((unsigned char)*at) || strchr(kept, *at) != NULL)
			text_append(&text, at, 1);
		else
			text_addf(&text, "%%%02X", (unsigned char)*at);
	}
	return text_take(&text);
}

static void entry_register(struct entry *entry)
{
	struct kubelet *kubelet = entry->watcher->kubelet;
	struct text refusal CLEANUP_TEXT = {0};
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
	char *authority CLEANUP_FREE = authority_of(path);
	if (dial_start(kubelet->loop, path, authority, DIAL_MS, on_dialled, entry, &entry->dial,
		       &err) != 0) {
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
	free(entry);
}

static struct entry *entry_find(const struct watcher *watcher, const char *path)
{
	struct entry *entry = watcher->entries;
	while (entry != NULL && strcmp(entry->path, path) != 0)
		entry = entry->next;
	return entry;
}

static void entry_seen(struct watcher *watcher, const char *path,
		       const struct socket_identity *identity)
{
	struct entry *entry = entry_find(watcher, path);
	if (entry != NULL && socket_is_same(&entry->identity, identity)) {
		entry->present = true;
		return;
	}
	if (entry != NULL || watcher->entry_count >= ENTRIES_MAX)
		return; /* replaced: the old one goes first, the new one is seen by the next scan */
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return;
	entry->path = strdup(path);
	if (entry->path == NULL) {
		free(entry);
		return;
	}
	entry->watcher = watcher;
	entry->identity = *identity;
	entry->present = true;
	entry->next = watcher->entries;
	watcher->entries = entry;
	watcher->entry_count++;
	report(entry, KUBELET_EVENT_WATCHER_SOCKET, "appeared");
}

/* filepath.Walk does not follow links. */
static bool is_own_directory(const char *path)
{
	uv_fs_t request;
	int rc = uv_fs_lstat(NULL, &request, path, NULL);
	bool directory = rc == 0 && S_ISDIR(request.statbuf.st_mode);
	uv_fs_req_cleanup(&request);
	return directory;
}

static void scan(struct watcher *watcher, const char *directory)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (++watcher->directory_count > DIRECTORIES_MAX || file_list(directory, &names, NULL) != 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);
		struct socket_identity identity;
		if (names.items[i][0] == '.' || path == NULL)
			continue;
		if (socket_is_at(path) && socket_identify(path, &identity))
			entry_seen(watcher, path, &identity);
		else if (is_own_directory(path))
			scan(watcher, path);
	}
}

static void drop_absent(struct watcher *watcher)
{
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
}

static void reconcile(void *user)
{
	struct watcher *watcher = user;
	for (struct entry *entry = watcher->entries; entry != NULL; entry = entry->next)
		entry->present = false;
	watcher->directory_count = 0;
	scan(watcher, watcher->kubelet->registry_dir);
	drop_absent(watcher);
	uint64_t now_ms = kubelet_elapsed_ms(watcher->kubelet);
	for (struct entry *entry = watcher->entries; entry != NULL; entry = entry->next)
		if (entry->state == ENTRY_NEW ||
		    (entry->state == ENTRY_FAILED && now_ms > entry->retry_ms))
			entry_register(entry);
}

int watcher_start(struct kubelet *kubelet, struct error *err)
{
	int rc = file_make_directories(kubelet->registry_dir, DIRECTORY_MODE, err);
	if (rc != 0)
		return rc;
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	if (watcher == NULL)
		return error_memory(err);
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
