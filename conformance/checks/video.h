/* SPDX-License-Identifier: MIT */
#pragma once

/* Did an encoder encode what it was given? The streams of a probe's document (workloads/video/) are
 * decoded by verify-video, a process of its own: a stream that crashes a decoder, or keeps it busy
 * for ever, ends that process and is not what was wanted. */

#include "base/gpu_apis.h"
#include "conformance/runner/check.h"
#include "containers/grant/grant.h"
#include "discovery/include/gpucert/discovery.h"

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

/* Does the device offer the API? */
typedef bool video_offers_api(const struct discovery_device *device, const struct gpu_api *api);

/*
 * FFmpeg takes a processor where no encoder of the device works, and exits with 0. Of a document of
 * probe-ffmpeg with a stream: records that the answer (`grant`) did not bring the program, notes what
 * encoded, and where that was a processor although `device`
 * offers encoders, records what came of the attempt at each: unsupported where the device or the
 * program has no such encoder, a failure otherwise. A software device may do so.
 */
void video_expect_hardware(struct check_run *run, const struct discovery_device *device,
			   const struct grant *grant, const cJSON *document,
			   video_offers_api *offers);

/* Of a document that says that there is no ffmpeg: unsupported where the device is one in hardware
 * and offers encoders, not applicable elsewhere. */
void video_expect_ffmpeg(struct check_run *run, const struct discovery_device *device,
			 const cJSON *document, video_offers_api *offers);
