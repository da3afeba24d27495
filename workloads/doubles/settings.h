/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The faults and settings of a driver double, from the environment variable GPUCERT_DOUBLE: words separated
 * by commas.
 *
 *   devices=3                 number of devices; default 1
 *   fail=CALL:CODE            the call returns the code
 *   crash=CALL                the call ends the process by SIGSEGV
 *   noise                     prints on stdout when it is loaded
 *   hang                      work never ends
 *   idle                      work ends without having been done
 *   twice                     work is done twice
 *   wrong=INDEX               one bit of one integer result is wrong
 *   overrun                   one element after the end is written
 *   null                      all calls succeed and do nothing
 *   unfilled                  memory is not filled
 *   biased                    CUDA's Monte Carlo counts too little
 *   timeless                  CUDA measures no time
 *   luid                      CUDA reports LUIDs, as on Windows
 *   nvml-devices=2            number of devices of NVML, if it differs
 *   forbidden=INDEX           a device that NVML counts and does not hand out
 *   strange-uuid              NVML reports an invalid UUID
 *   nvidia-uuid=N             OpenCL calls itself NVIDIA's, and its first device has a UUID of bytes N
 *   opencl-bus=N              OpenCL reports another bus than the other APIs
 *   families=N                Vulkan reports N queue families, whatever the room for them
 *   graphics-only             no queue of a device does compute work
 *   old                       the device is one of the oldest version of the API
 *   node=PATH                 without this node, which is opened and stays open, there is no device
 *   parts                     HIP and Level Zero show parts of one device: all have its address
 *   vendor=N, device=N        the ids of PCI, of Vulkan and OpenCL
 *   drm-major=N, drm-minor=N  the render node, of Vulkan
 *   pci-domain=N, pci-bus=N   the address of the first device, in decimal; default: each double's own
 *   render=N                  the number of its render node, which OpenGL reports instead of the address
 *   keeps=PATH                endless Vulkan work leaves memory in use: the file's size
 *   shared=PATH, ...          see shared.h
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool setting_has(const char *word);
size_t setting_number(const char *key, size_t otherwise); /* "key=N" */

/* "key=TEXT"; false: none, or it is longer. */
bool setting_text(const char *key, char *out, size_t size);

/* Ends the process by SIGSEGV. */
__attribute__((noreturn)) void setting_crash(void);

/* Called first in every entry of a double: crashes if configured; returns the code of the failure,
 * 0 for none. */
int setting_enter(const char *call);

/* Runs the work of workloads/common/work.h on the arrays of a kernel, according to the settings. */
void setting_work(uint32_t *values, const float *x, float *y, size_t elements, uint32_t key,
		  float scale);
