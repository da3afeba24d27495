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

/* X(enumerator, name). docs/fake-kubelet.md describes each, and its members. */
#define KUBELET_EVENTS(X)                                                                          \
	X(STARTED, "started")                                                                      \
	X(STOPPED, "stopped")                                                                      \
	X(SOCKET_SWEPT, "socket-swept")                                                            \
	X(SOCKET_MOVED, "socket-moved")                                                            \
	X(SOCKET_RETURNED, "socket-returned")                                                      \
	X(FAULT, "fault")                                                                          \
	X(REGISTER, "register")                                                                    \
	X(REGISTER_ANSWERED, "register-answered")                                                  \
	X(REGISTER_ABANDONED, "register-abandoned")                                                \
	X(WATCHER_SOCKET, "watcher-socket")                                                        \
	X(WATCHER_INFO, "watcher-info")                                                            \
	X(WATCHER_NOTIFIED, "watcher-notified")                                                    \
	X(CONNECTED, "connected")                                                                  \
	X(DIAL_FAILED, "dial-failed")                                                              \
	X(OPTIONS, "options")                                                                      \
	X(DEVICES, "devices")                                                                      \
	X(DISCONNECTED, "disconnected")                                                            \
	X(RESOURCE, "resource")                                                                    \
	X(RESOURCE_REMOVED, "resource-removed")                                                    \
	X(PREFERRED, "preferred-allocation")                                                       \
	X(ALLOCATE, "allocate")                                                                    \
	X(PRE_START, "pre-start")                                                                  \
	X(CONTAINER_OPTIONS, "container-options")                                                  \
	X(ADMITTED, "admitted")                                                                    \
	X(REJECTED, "rejected")                                                                    \
	X(PROBLEM, "problem")                                                                      \
	X(PLUGIN_STARTED, "plugin-started")                                                        \
	X(PLUGIN_OUTPUT, "plugin-output")                                                          \
	X(PLUGIN_EXITED, "plugin-exited")

enum kubelet_event_type {
#define KUBELET_EVENT_ENUM(enumerator, name) KUBELET_EVENT_##enumerator,
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
