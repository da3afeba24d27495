/* SPDX-License-Identifier: MIT */
#pragma once

/* Did an encoder encode what it was given? The streams of a probe's document (workloads/video/) are
 * decoded by verify-video, a process of its own: a stream that crashes a decoder, or keeps it busy
 * for ever, ends that process and is not what was wanted. */

#include "conformance/runner/check.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/*
 * Records of each stream of the document that it decodes to the frames that follow from `seed`, and
 * of the document that there is one. A codec that the device does not encode is noted. Where
 * verify-video is missing, as on Windows, nothing is proven: recorded as unsupported.
 *
 * `program`: verify-video; NULL for the one of this installation. False: something failed.
 */
bool video_expect_streams(struct check_run *run, const char *label, const cJSON *document,
			  uint32_t seed, const char *program);
