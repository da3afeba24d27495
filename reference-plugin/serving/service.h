/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The room serving/ holds how the kubelet is served: this service, and the instance that keeps one on a
 * socket and registers it.
 *
 * Here: the DevicePlugin service of one resource on one socket. Any number of ListAndWatch streams
 * may be open: each gets the whole list at once and again whenever it changes. A reader that is
 * slow gets the newest list once it has room for it; no more than one list waits for each.
 * PreStartContainer is not served, as the options say (UNIMPLEMENTED).
 */

#include "base/error.h"
#include "reference-plugin/inventory/scanner.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

struct service;

struct service_options {
	uv_loop_t *loop;
	const char *address;	     /* "unix:PATH" */
	const struct config *config; /* borrowed for the life of the service, as is the scanner */
	struct scanner *scanner;
	enum inventory_resource resource;
	/* The last ListAndWatch stream was ended by its reader; there was one for `watched_ms`. */
	void (*on_unwatched)(uint64_t watched_ms, void *user);
	void *user;
};

/* What the plugin says of itself, in GetDevicePluginOptions and in the registration. */
V1beta1__DevicePluginOptions service_plugin_options(void);

/* Serves from now on. Errors: those of rpc_server_listen(). */
int service_open(const struct service_options *options, struct service **out, struct error *err);

/* The inventory changed: sends the list to every stream, unless it is the list that was sent
 * before. After an error the streams have what they had. ERROR_MEMORY. */
int service_refresh(struct service *service, struct error *err);

/* Is a ListAndWatch stream open? */
bool service_is_watched(const struct service *service);

/* Ends the streams with UNAVAILABLE and `why`, removes the socket and waits a moment for calls
 * under way. `closed` runs last and never before this returns; the service is gone then. */
void service_close(struct service *service, const char *why, void (*closed)(void *user),
		   void *user);
