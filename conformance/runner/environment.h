/* SPDX-License-Identifier: MIT */
#pragma once

/* The report's `environment`: facts and digests of the node, the runtime and the plugin. Files are
 * digested in the background as soon as the node's devices are known. */

#include "conformance/runner/context.h"
#include "conformance/runner/plugin_identity.h"
#include "conformance/runner/workplace.h"
#include "containers/wine/identity.h"

#include <cjson/cJSON.h>

/* In the virtual machine of `gpucert run --node vm`: names the file in which vm-run describes it. */
#define ENVIRONMENT_VM "GPUCERT_VM"

struct device_digests {
	struct digest_set files, driver_store;
};

struct environment {
	struct digests *digests;
	struct digest_cache *digest_cache; /* the user's; NULL: none */
	struct device_digests *devices;	   /* in the node's order */
	size_t device_count;
	struct wine_identity wine; /* empty unless the node is a Wine node */
	const struct digest_job *harness, *run_check;
	struct plugin_identity plugin;
};

/* Begins to digest this program and the files that devices of a live node use, or with `wine` (NULL:
 * none) the files that containers get on the Wine node. Errors of digest_set_add() and
 * wine_identity_read(). */
int environment_open(struct environment *environment, uv_loop_t *loop,
		     const struct discovery_snapshot *node, const struct wine_node *wine,
		     struct error *err);
void environment_close(struct environment *environment);

/* All that is known before the first check. Caller owns the object. Errors of
 * plugin_identity_of_command(). */
int environment_describe(struct environment *environment, const struct context *context,
			 const struct workplace *workplace, cJSON **out, struct error *err);

/* Only the section `plugin`, after more became known about it. Caller owns it. */
cJSON *environment_describe_plugin(struct environment *environment, const struct context *context);
