/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A video encoder added to a Direct3D 12 that has none: methods of the device and of its command lists are replaced in
 * their tables, which all objects of a kind share. Everything but encoding is the device's own. It encodes at most 64
 * by 64: H.264 without loss (h264_pcm.h), HEVC (d3d12video_double_hevc.c) and AV1 (d3d12video_double_av1.c), and
 * refuses wrongly described pictures. For tests that run in the process of the probe's code.
 *
 * Words of GPUCERT_DOUBLE, in addition to those of settings.h and h264_pcm.h:
 *
 *   no-video        ID3D12VideoDevice3 is missing
 *   none            it encodes nothing
 *   codec=N         it has only this codec, by its number; default: H.264
 *   all-codecs      all codecs are reported, with B frames and 10 bits
 *   new-codec       a query for AV1 is refused
 *   high            it has only the high profile of H.264
 *   cqp             no rate is kept
 *   texture-array   references are slices of one texture
 *   refuse=N        it refuses the settings, with these validation flags
 *   level=N         it suggests this level
 *   high-tier       in the high tier
 *   region=N        it codes pictures in squares of N samples a side
 *   greedy          it requires more memory than exists
 *   small-layout    the layout that the device reports is too small for a frame
 *   flags=N         it reports these error flags for each picture
 *   silent          it reports nothing about a picture
 *   overfull        it reports a picture larger than the memory for it
 *   crowded         it reports more parts of a picture than there is room for
 *   parts           a picture has two parts, each after padding
 *   removed=N       the device is removed by picture N
 */

#include "workloads/d3d12video/d3d12video.h"

/* Replaces the methods. False: the tables are not writable. */
bool d3d12video_double_install(const struct d3d12_device *gpu);

/* Resets all state. */
void d3d12video_double_reset(void);

/* The number of unreleased objects. */
extern int d3d12video_double_alive;
