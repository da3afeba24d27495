/* SPDX-License-Identifier: MIT */
#pragma once

/* Did an encoder encode its input? verify-video decodes the streams of a probe's document
 * (workloads/video/) in a process of its own: a stream that crashes a decoder, or keeps it busy for ever,
 * ends only that process, and is wrong. */

#include "base/gpu_apis.h"
#include "conformance/runner/check.h"
#include "containers/grant/grant.h"
#include "discovery/include/gpucert/discovery.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/*
 * Records that each stream of the document decodes to the frames that follow from `seed`, and that the
 * document has a stream. A codec that the device does not encode is noted. Unsupported where
 * verify-video is missing, as on Windows.
 *
 * `program`: verify-video; NULL for the one of this installation. False: something failed.
 */
bool video_expect_streams(struct check_run *run, const char *label, const cJSON *document,
			  uint32_t seed, const char *program);

/* Does the device offer the API? */
typedef bool video_offers_api(const struct discovery_device *device, const struct gpu_api *api);

/* Does the probe's reason for work that is unsupported mean that a device on Linux has no encoder? A driver
 * says so where all of its files are in the container; for Vulkan, those of Mesa: its drivers are one file
 * each, and NVIDIA's needs more for video than for the rest. On Windows also a container without the
 * device's registered encoders has none. */
bool video_has_no_encoder(const struct discovery_snapshot *node,
			  const struct discovery_device *device, const char *reason);

/*
 * FFmpeg encodes on a processor where no encoder of the device works, and exits with 0. For a document of
 * probe-ffmpeg with a stream: records that the answer (`grant`) did not bring the program, and notes the
 * encoder. Where that is a processor although `device` offers encoders, records the result of the
 * attempt at each: unsupported where the device or the program has no such encoder, a failure otherwise.
 * A software device may do so.
 */
void video_expect_hardware(struct check_run *run, const struct discovery_device *device,
			   const struct grant *grant, const cJSON *document,
			   video_offers_api *offers);

/* For a document that reports no ffmpeg: unsupported where the device is hardware and offers encoders,
 * not applicable elsewhere. */
void video_expect_ffmpeg(struct check_run *run, const struct discovery_device *device,
			 const cJSON *document, video_offers_api *offers);
