/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * This folder (serving/) serves the kubelet: this service, and the instance that keeps one on a socket
 * and registers it.
 *
 * This file: the DevicePlugin service of one resource on one socket. Any number of ListAndWatch streams
 * may be open: each gets the whole list at once and again whenever it changes. A slow reader gets the
 * newest list once it has room; at most one list waits for each. PreStartContainer is UNIMPLEMENTED,
 * and the options say so.
 */

#include "base/error.h"
#include "reference-plugin/inventory/scanner.h"
#include "reference-plugin/serving/metrics.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

struct service;

/* The parts that serve a resource; borrowed while the service exists. */
struct serving {
	uv_loop_t *loop;
	const struct config *config;
	struct scanner *scanner;
	enum inventory_resource resource;
	struct serving_counts *counts; /* calls and registrations are counted here */
};

/* The plugin's options, for GetDevicePluginOptions and the registration. */
V1beta1__DevicePluginOptions service_plugin_options(void);

/* Serves at "unix:PATH" from now on. `on_unwatched` runs when the kubelet's ListAndWatch stream was ended
 * by its reader after `watched_ms`. Errors: those of rpc_server_listen(). */
int service_open(const struct serving *serving, const char *address,
		 void (*on_unwatched)(uint64_t watched_ms, void *user), void *user,
		 struct service **out, struct error *err);

/* The inventory changed: sends the list to every stream, unless it equals the last one. After an
 * error the streams keep their list. ERROR_MEMORY. */
int service_refresh(struct service *service, struct error *err);

/* How many ListAndWatch streams are open. */
size_t service_streams(const struct service *service);

/*
 * One of several streams is the kubelet's: the first since the last registration, or the next one when that
 * has ended. When an endpoint registers again, a kubelet up to 1.36 neither reads nor ends the old stream; so
 * an older stream does not mean that the kubelet watches.
 */
bool service_is_watched(const struct service *service);
void service_registers(struct service *service); /* call before Register */
bool service_is_watched_anew(
	const struct service *service); /* by a stream opened since service_registers() */
/* Called some time after the answer: a kubelet from 1.37 on opens no second stream. */
void service_registered(struct service *service);

/* Ends the streams with UNAVAILABLE and `why`, removes the socket and waits a moment for calls
 * under way. `closed` runs last and never before this returns; the service is gone then. */
void service_close(struct service *service, const char *why, void (*closed)(void *user),
		   void *user);
