/* SPDX-License-Identifier: MIT */
#pragma once

/* The behaviour of a scripted plugin, read from JSON. script_help() is the format's documentation. */

#include "conformance/kubelet/event.h"

enum script_method {
	SCRIPT_OPTIONS,
	SCRIPT_LIST_AND_WATCH,
	SCRIPT_PREFERRED,
	SCRIPT_ALLOCATE,
	SCRIPT_PRE_START,
	SCRIPT_GET_INFO,
	SCRIPT_NOTIFY,
	SCRIPT_METHOD_COUNT
};

const char *script_method_name(enum script_method method);

/* What happens to a call instead of, or before, its answer. */
struct script_fault {
	bool set;
	int code; /* -1: answer normally */
	char *message;
	uint64_t delay_ms;
	bool hang, malformed, empty, cut;
	int exit_code; /* -1: none */
	uint64_t skip,
		times;	  /* the first `skip` calls are answered normally, then `times` are not */
	uint64_t extra;	  /* container responses added, each a copy of the first */
	uint64_t padding; /* bytes of an environment variable added to the answer */
};

struct script_list {
	uint64_t after_ms; /* since the list before, or the beginning of the stream */
	struct kubelet_device_list devices;
};

struct script_end {
	bool set, cut;
	uint64_t after_ms; /* since the last list */
	int code;
	char *message;
};

struct script_pair {
	char *name, *value;
};

struct script_mount {
	char *container_path, *host_path;
	bool read_only;
};

struct script_device_node {
	char *container_path, *host_path, *permissions;
};

/* A part of an AllocateResponse; placeholders are replaced in every string. */
struct script_template {
	struct script_pair *envs, *annotations;
	size_t env_count, annotation_count;
	struct script_mount *mounts;
	size_t mount_count;
	struct script_device_node *devices;
	size_t device_count;
	char **cdi_devices;
	size_t cdi_device_count;
};

struct script_own {
	char *id;
	struct script_template part;
};

enum script_via { SCRIPT_VIA_REGISTER, SCRIPT_VIA_WATCHER, SCRIPT_VIA_NONE };
enum script_reaction { SCRIPT_REACT_REGISTER, SCRIPT_REACT_IGNORE, SCRIPT_REACT_EXIT };
enum script_signal {
	SCRIPT_SIGNAL_STOP,
	SCRIPT_SIGNAL_IGNORE,
	SCRIPT_SIGNAL_LEAVE_SOCKET,
	SCRIPT_SIGNAL_DIE
};
enum script_preference {
	SCRIPT_PREFER_FIRST,
	SCRIPT_PREFER_LAST,
	SCRIPT_PREFER_TURNS,
	SCRIPT_PREFER_IDS
};

/* A list that streams send, or all of them from now on, once a method was called more than `skip` times. */
struct script_later_list {
	bool set;
	enum script_method method;
	uint64_t skip;
	struct kubelet_device_list devices;
};

/* The leak of each call of a method. */
struct script_leak {
	enum script_method method;
	uint64_t bytes, descriptors, threads;
};

/* One resource that a scripted plugin serves. Strings are owned. */
struct script {
	char *resource, *version, *endpoint, *socket, *pre_start_link, *allocate_link;
	bool send_options, remove_stale, one_instance;
	struct kubelet_plugin_options options, sent_options;
	enum script_via via;
	char *info_type, *info_name, *info_endpoint;
	uint64_t register_delay_ms, register_retry_ms, register_deadline_ms, register_repeat_ms;
	int64_t register_retries, register_repeat;
	bool register_before_listen, fresh_socket;
	enum script_reaction on_kubelet_socket, on_socket_removed;
	uint64_t reaction_delay_ms;
	struct script_list *lists;
	size_t list_count;
	struct script_end end;
	bool repeat_lists, block_on_window;
	struct script_later_list later_streams, after_call;
	uint64_t storm_ms, goaway_ms, socket_mode, directory_mode;
	bool accept_unknown, accept_unhealthy, needs_stream;
	bool accumulate, shared_state, log_ids;
	char *touch;
	struct script_leak leak;
	enum script_preference preference;
	char **preferred_ids;
	size_t preferred_id_count;
	struct script_template once, each;
	struct script_own *own; /* what is added for one id */
	size_t own_count;
	bool changes; /* `later_*` in place of these from call `later_skip` on */
	uint64_t later_skip, max_ids, answered_ids;
	struct script_template later_once, later_each;
	struct script_fault faults[SCRIPT_METHOD_COUNT];
};

/* The behaviour of the process as a whole. */
struct script_file {
	struct script *plugins;
	size_t plugin_count;
	enum script_signal on_sigterm;
	int64_t exit_after_ms; /* -1: never */
	int exit_code;
	char *output;		/* written to stdout at the start */
	uint64_t binary_output; /* bytes 0..255 repeated, written to stdout at the start */
	uint64_t log_lines;	/* lines written to stderr at the start */
	bool spin;		/* it never sleeps */
};

/* ERROR_FORMAT naming the place. */
int script_file_read(const cJSON *json, struct script_file *out, struct error *err);
void script_file_free(struct script_file *file);

const char *const *script_help(void); /* parts of one text; NULL-ended */
