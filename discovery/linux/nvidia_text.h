/* SPDX-License-Identifier: MIT */
#pragma once

/* The texts of /proc/driver/nvidia. */

#include <stdbool.h>
#include <stdint.h>

struct nvidia_information {
	char model[128]; /* "" when the file names none */
	char uuid
		[41]; /* "GPU-" and a UUID in small letters; "" when the driver does not know it yet */
	int64_t minor; /* N of /dev/nvidiaN; unchanged when the file names none */
	bool excluded; /* NVreg_ExcludedGpus names this GPU */
};

/* .../gpus/ADDRESS/information */
void nvidia_information_parse(const char *text, struct nvidia_information *out);

/* The minor number in .../capabilities/gpuN/mig/giN/access: N of /dev/nvidia-caps/nvidia-capN.
 * DISCOVERY_UNKNOWN when the file has none. */
int64_t nvidia_capability_minor(const char *text);

/*
 * The version in .../version: the first word of digits and dots after "Kernel Module" in the line
 * "NVRM version:", which has two shapes, "NVIDIA UNIX x86_64 Kernel Module  550.54.15 ..." and
 * "NVIDIA UNIX Open Kernel Module for x86_64  595.45.04 ...". NULL when there is none. Caller
 * frees.
 */
char *nvidia_version_find(const char *text);
