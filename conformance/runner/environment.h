/* SPDX-License-Identifier: MIT */
#pragma once

/* The report's `environment`: what the run runs in, as parsed and digested facts. Files are
 * digested in the background from the moment that the node's devices are known. */

#include "conformance/runner/context.h"
#include "conformance/runner/plugin_identity.h"
#include "conformance/runner/workplace.h"
#include "containers/wine/identity.h"

#include <cjson/cJSON.h>

struct device_digests {
	struct digest_set files, driver_store;
};

struct environment {
	struct digests *digests;
	struct digest_cache *digest_cache; /* of the user's; NULL: none can be had */
	struct device_digests *devices;	   /* of the node's, in their order */
	size_t device_count;
	struct wine_identity wine; /* of a Wine node; else empty */
	const struct digest_job *harness;
	struct plugin_identity plugin;
};

/* Begins to digest this program and what the devices of a live node use, or, with `wine` (NULL:
 * none), what containers are given on the Wine node. ERROR_MEMORY; errors of wine_identity_read().
 */
int environment_open(struct environment *environment, uv_loop_t *loop,
		     const struct discovery_snapshot *node, const struct wine_node *wine,
		     struct error *err);
void environment_close(struct environment *environment);

/* All that is known before the first check. Caller owns the object. ERROR_MEMORY. */
int environment_describe(struct environment *environment, const struct context *context,
			 const struct workplace *workplace, cJSON **out, struct error *err);

/* The section `plugin` alone, after more was learnt of it. */
int environment_describe_plugin(struct environment *environment, const struct context *context,
				cJSON **out, struct error *err);
