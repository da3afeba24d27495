/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The DevicePlugin service of one resource on one socket.
 *
 * Any number of ListAndWatch streams may be open: each gets the whole list at once and again
 * whenever it changes. A reader that is slow gets the newest list once it has room for it; no more
 * than one list waits for each. PreStartContainer is not served, as the options say
 * (UNIMPLEMENTED).
 */

#include "base/error.h"
#include "reference-plugin/answer/answer.h"
#include "reference-plugin/answer/prefer.h"
#include "reference-plugin/inventory/inventory.h"

#include <stdbool.h>
#include <uv.h>

struct service;

struct service_options {
	uv_loop_t *loop;
	const char *address; /* "unix:PATH" */
	enum inventory_resource resource;
	enum prefer_policy policy;
	struct answer_rules rules; /* what they point to is borrowed for the life of the service */
	/* The devices as they are known now. The first call may look for them. */
	const struct inventory *(*inventory)(void *user);
	/* An Allocate failed because something that discovery saw is not there (any more). */
	void (*on_suspicion)(void *user);
	/* The last ListAndWatch stream was ended by its reader; there was one for `watched_ms`. */
	void (*on_unwatched)(uint64_t watched_ms, void *user);
	void *user;
};

/* What the plugin says of itself, in GetDevicePluginOptions and in the registration. */
enum { SERVICE_PRE_START_REQUIRED = 0, SERVICE_PREFERRED_ALLOCATION_AVAILABLE = 1 };

/* Serves from now on. Errors: those of rpc_server_listen(). */
int service_open(const struct service_options *options, struct service **out, struct error *err);

/* The inventory changed: sends the list to every stream, unless it is the list that was sent
 * before. After an error the streams have what they had. ERROR_MEMORY, ERROR_LIMIT. */
int service_refresh(struct service *service, struct error *err);

/* Is a ListAndWatch stream open? */
bool service_is_watched(const struct service *service);

/* Ends the streams with UNAVAILABLE and `why`, removes the socket and waits a moment for calls
 * under way. `closed` runs last and never before this returns; the service is gone then. */
void service_close(struct service *service, const char *why, void (*closed)(void *user),
		   void *user);
