/* SPDX-License-Identifier: MIT */
#pragma once

/* Does a probe's document belong to the launch that it is taken for? */

#include "conformance/runner/check.h"

#include <cjson/cJSON.h>
#include <stdint.h>

enum { DOCUMENT_NONCE_SIZE = 33 };

struct document_launch {
	const char *probe;		 /* "probe-vulkan" */
	char nonce[DOCUMENT_NONCE_SIZE]; /* another one in each launch */
	uint32_t seed;			 /* not 0 */
};

/* Chooses nonce and seed. Errors of uv_random(). */
int document_new_launch(const char *probe, struct document_launch *out, struct error *err);

/*
 * Records that schema, probe, version and nonce of the document are those of the launch and of this
 * build, and, for work that the probe calls done, that its seed is the launch's and that each
 * digest of what was read back from the device is the one that follows from the seed. False:
 * recorded, and the document proves nothing.
 */
bool document_expect_launch(struct check_run *run, const char *label, const cJSON *document,
			    const struct document_launch *launch);
