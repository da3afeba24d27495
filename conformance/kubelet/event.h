/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The events of the fake kubelet, as they happen. Every event has one JSON form: an object with
 * "time" (UTC), "elapsed_ms" (since kubelet_new(), virtual time included), "event" (the name below)
 * and the members that the event carries.
 */

#include "conformance/kubelet/devices.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* X(enumerator, name, meaning, members). docs/reference/kubelet-events.md is made from this table. */
#define KUBELET_EVENTS(X)                                                                          \
	X(STARTED, "started", "kubelet.sock accepts registrations", "socket")                      \
	X(STOPPED, "stopped", "kubelet.sock is gone", "socket")                                    \
	X(SOCKET_SWEPT, "socket-swept", "a socket left in the plugin directory was removed",       \
	  "socket")                                                                                \
	X(SOCKET_MOVED, "socket-moved", "a file of another kubelet was moved aside", "socket")     \
	X(SOCKET_RETURNED, "socket-returned", "a moved file was put back", "socket")               \
	X(FAULT, "fault", "a fault was applied; text is its name", "text")                         \
	X(REGISTER, "register", "a Register call arrived", "resource, endpoint, version, options") \
	X(REGISTER_ANSWERED, "register-answered", "Register was answered", "resource, code, text") \
	X(REGISTER_ABANDONED, "register-abandoned", "the caller left before the answer",           \
	  "resource")                                                                              \
	X(WATCHER_SOCKET, "watcher-socket", "a socket appeared in plugins_registry", "socket")     \
	X(WATCHER_INFO, "watcher-info", "GetInfo was answered",                                    \
	  "socket, resource, endpoint, code")                                                      \
	X(WATCHER_NOTIFIED, "watcher-notified",                                                    \
	  "the plugin was notified of the outcome; the text says why it is not registered",        \
	  "socket, text")                                                                          \
	X(CONNECTED, "connected", "the plugin's socket accepted the dial-back",                    \
	  "resource, socket")                                                                      \
	X(DIAL_FAILED, "dial-failed", "the plugin's socket did not accept the dial-back in time",  \
	  "resource, socket, text")                                                                \
	X(OPTIONS, "options", "GetDevicePluginOptions was answered", "resource, options, code")    \
	X(DEVICES, "devices", "a ListAndWatch message", "resource, socket, devices, size")         \
	X(DISCONNECTED, "disconnected", "a ListAndWatch stream ended",                             \
	  "resource, socket, code, text")                                                          \
	X(RESOURCE, "resource", "capacity or allocatable changed",                                 \
	  "resource, capacity, allocatable")                                                       \
	X(RESOURCE_REMOVED, "resource-removed", "the grace period passed", "resource")             \
	X(PREFERRED, "preferred-allocation", "GetPreferredAllocation ended; ids are the answer",   \
	  "resource, pod, container, ids, code, text")                                             \
	X(ALLOCATE, "allocate", "Allocate ended",                                                  \
	  "resource, pod, container, ids, code, text, size")                                       \
	X(PRE_START, "pre-start", "PreStartContainer ended",                                       \
	  "resource, pod, container, code, text")                                                  \
	X(CONTAINER_OPTIONS, "container-options",                                                  \
	  "the merged options that a container starts with", "pod, container, container_options")  \
	X(ADMITTED, "admitted", "a container was admitted", "pod, container")                      \
	X(REJECTED, "rejected", "a container was refused", "pod, container, text")                 \
	X(PROBLEM, "problem", "the kubelet itself failed", "text")                                 \
	X(PLUGIN_STARTED, "plugin-started", "the plugin process runs; text is its command",        \
	  "text")                                                                                  \
	X(PLUGIN_OUTPUT, "plugin-output", "a line of the plugin's output", "stream, text")         \
	X(PLUGIN_EXITED, "plugin-exited", "the plugin process ended", "text")

enum kubelet_event_type {
#define KUBELET_EVENT_ENUM(enumerator, name, meaning, members) KUBELET_EVENT_##enumerator,
	KUBELET_EVENTS(KUBELET_EVENT_ENUM)
#undef KUBELET_EVENT_ENUM
		KUBELET_EVENT_COUNT
};

struct grant;

struct kubelet_plugin_options {
	bool pre_start_required;
	bool get_preferred_allocation_available;
};

/* Everything is borrowed for the duration of the callback; members that an event does not have are
 * NULL or -1, as kubelet_event_of() sets them. */
struct kubelet_event {
	enum kubelet_event_type type;
	uint64_t elapsed_ms;
	const char *resource, *socket, *endpoint, *version, *pod, *container, *text;
	const char *stream; /* "stdout" or "stderr" */
	int code;	    /* gRPC status */
	int64_t size, capacity, allocatable, duration_ms;
	const struct kubelet_plugin_options *options;
	const struct kubelet_device_list *devices;
	const struct text_list *ids;
	const struct grant *grant;
};

struct kubelet_event kubelet_event_of(enum kubelet_event_type type);

const char *kubelet_event_name(enum kubelet_event_type type); /* "register-answered" */

/* Caller frees with cJSON_Delete(). Bytes that are not UTF-8 become U+FFFD. */
cJSON *kubelet_event_json(const struct kubelet_event *event);
