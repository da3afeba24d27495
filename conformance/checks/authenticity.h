/* SPDX-License-Identifier: MIT */
#pragma once

/* Is the probe that runs in a container the one that was put into its image, on the image's own
 * libraries? The host inspects it while it is held at its start. And does a probe's document belong
 * to its launch? */

#include "conformance/runner/check.h"
#include "containers/grant/grant.h"
#include "containers/inspect/inspect.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* Records the parts of an answer that change the probe itself, before a container exists. False: its
 * document would prove nothing. */
bool authenticity_expect_answer(struct check_run *run, const char *label,
				const struct grant *grant);

/*
 * Fills `view` with the host's view of a container with `grant`, whose first process, a held probe, is
 * `pid`. Records that its program is the image's `probe`, and each variable, file and mount that
 * changes what it is.
 *
 * False: recorded, and the program must not continue. True with view->pid 0: it ended meanwhile, or the
 * host cannot inspect it, which is recorded as unsupported.
 */
bool authenticity_expect(struct check_run *run, const char *label, const char *probe,
			 const struct grant *grant, int64_t pid, struct container_view *view);

enum { DOCUMENT_NONCE_SIZE = 33 };

struct document_launch {
	const char *probe;		 /* "probe-vulkan" */
	char nonce[DOCUMENT_NONCE_SIZE]; /* different in each launch */
	uint32_t seed;			 /* not 0 */
};

/* Chooses nonce and seed. Errors of uv_random(). */
int document_new_launch(const char *probe, struct document_launch *out, struct error *err);

/*
 * Records that schema, probe, version and nonce of the document are those of the launch and of this
 * build, and, for work that the probe reports as done, that its seed is the launch's and that each
 * digest of what was read back from the device is the one that follows from the seed. False:
 * recorded, and the document proves nothing.
 */
bool document_expect_launch(struct check_run *run, const char *label, const cJSON *document,
			    const struct document_launch *launch);
