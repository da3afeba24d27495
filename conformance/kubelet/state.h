/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The internals of the fake kubelet, for its parts only: its state, and the functions of kubelet.c
 * that every part needs. The parts: endpoints.h, resources.h, pods.h, fault_state.h.
 */

#include "conformance/kubelet/fault_state.h"
#include "conformance/kubelet/id_set.h"
#include "conformance/kubelet/kubelet.h"
#include "conformance/kubelet/plugin_directory.h"
#include "rpc/loop.h"
#include "rpc/server.h"
#include "rpc/socket.h"

struct kubelet {
	uv_loop_t *loop;
	struct kubelet_options options; /* with defaults; strings are those below */
	char *plugin_dir, *registry_dir, *socket, *checkpoint;
	bool running, freeing, checkpoint_written;
	uint64_t born_ms, advanced_ms;
	char *interrupt;
	char *refusal; /* whole text of the last refusal */
	struct random random;
	struct rpc_server *server;
	struct plugin_directory directory;
	struct socket_identity socket_identity; /* of kubelet.sock while we listen */
	bool socket_known;
	const char *socket_harm; /* NULL: none seen */
	struct fault_state faults;
	struct watcher *watcher;
	struct timer *node_status;
	struct registration *registrations[KUBELET_REGISTRATIONS_KEPT]; /* a ring */
	size_t registration_count;
	struct kubelet_plugin *plugins;
	struct resource *resources;
	struct allocation *allocations, *reusables;
};

void kubelet_report(struct kubelet *kubelet, struct kubelet_event event);
void kubelet_report_problem(struct kubelet *kubelet, const struct error *err);

/* kubelet.sock closed and, while the kubelet runs, opened again as the faults say. */
int kubelet_reopen(struct kubelet *kubelet, struct error *err);

/* ERROR_REMOTE. The text of an error is bounded, that of a refusal is not: kubelet->refusal. */
int kubelet_refuse(struct kubelet *kubelet, struct error *err, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* The status of a call as Go prints it, after `what`. */
int kubelet_refuse_status(struct kubelet *kubelet, struct error *err, const char *what,
			  const struct rpc_answer *reply);

/*
 * Texts as Go prints them, so that people find them in a search (go_text.c).
 */

/* Appends `string` as %q does: quoted, with the escapes of strconv.Quote. Unprintable are all those of
 * ASCII and the common ones of Unicode. */
void go_quote(struct text *out, const char *string);

/* "rpc error: code = NotFound desc = text", as a gRPC status is printed; other codes are
 * "Code(99)". Caller frees. */
char *go_status_text(int code, const char *message);
