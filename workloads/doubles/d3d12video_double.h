/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A video encoder beside a Direct3D 12 that has none: methods of the device and of its command lists are
 * replaced in their tables, which all objects of a kind share. Everything but what encodes is the
 * device's own. It encodes in at most 64 by 64, H.264 without loss (h264_pcm.h), HEVC
 * and AV1 as d3d12video_double_hevc.c and d3d12video_double_av1.c tell, and refuses a picture that is not described as it has to be. For tests that run in the process of the probe's own code.
 *
 * Beside the words of settings.h and h264_pcm.h GPUCERT_DOUBLE knows
 *
 *   no-video        there is no ID3D12VideoDevice3
 *   none            it encodes nothing
 *   codec=N         it has this one alone, by its number; default: H.264
 *   all-codecs      all are told, and B frames and 10 bits
 *   new-codec       a question for AV1 is refused
 *   high            of H.264 it has the high profile alone
 *   cqp             no rate is kept
 *   texture-array   references are slices of one texture
 *   refuse=N        it does not take the settings, with these validation flags
 *   level=N         it suggests this level
 *   high-tier       and the high tier of it
 *   region=N        of pictures it codes squares of so many samples a side
 *   greedy          it wants more memory than there is
 *   small-layout    a frame has no room in the layout that the device tells
 *   flags=N         it says of each picture that this is wrong with it
 *   silent          it says nothing of a picture
 *   overfull        it says that a picture is larger than the memory for it
 *   crowded         it says that a picture has more parts than anybody has made room for
 *   parts           a picture has two parts, each behind padding
 *   removed=N       the device is removed by picture N
 */

#include "workloads/d3d12video/d3d12video.h"

/* Replaces the methods. False: the tables cannot be written. */
bool d3d12video_double_install(const struct d3d12_device *gpu);

/* Forgets what happened before. */
void d3d12video_double_reset(void);

/* Objects that are not released yet. */
extern int d3d12video_double_alive;
