/* SPDX-License-Identifier: MIT */
#pragma once

#include "conformance/kubelet/doubles/scripted_answer.h"
#include "conformance/kubelet/doubles/scripted_plugin.h"
#include "rpc/client.h"
#include "rpc/loop.h"
#include "rpc/server.h"

struct scripted_call;

struct scripted_plugin {
	uv_loop_t *loop;
	const struct script *script;
	struct scripted_plugin_options options;
	char *kubelet_socket, *socket;
	uint64_t kubelet_identity, socket_identity, directory_identity;
	uv_fs_event_t *changes;
	struct timer *reaction, *goaway, *directory_timer;
	struct rpc_server *server;
	struct scripted_call *open; /* calls that are not answered yet */
	struct kubelet_device_list override;
	bool overridden;
	size_t calls[SCRIPT_METHOD_COUNT];
	struct text_list answered;    /* ids of all Allocates so far */
	struct scripted_bytes latest; /* the latest Allocate's request */
	struct text_list leaked;
	/* registering */
	struct timer *register_timer;
	struct rpc_channel *register_channel;
	int64_t retries_left, repeats_left;
	size_t registered, refused;
	char last_error[512];
};

void scripted_note(struct scripted_plugin *plugin, const char *format, ...) PRINTF_LIKE(2, 3);
void scripted_exit(struct scripted_plugin *plugin, int code);
int scripted_listen(struct scripted_plugin *plugin, struct error *err);
void scripted_unlisten(struct scripted_plugin *plugin);

/* scripted_calls.c */
int scripted_add_methods(struct scripted_plugin *plugin, struct error *err);
void scripted_drop_calls(struct scripted_plugin *plugin);

/* scripted_register.c */
int scripted_start_listening(struct scripted_plugin *plugin, struct error *err);
void scripted_begin(struct scripted_plugin *plugin); /* listens anew and registers */
void scripted_stop_registering(struct scripted_plugin *plugin);
