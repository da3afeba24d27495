/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by the files of rules, including those of selection/. */

#include "containers/judging/compat/launch.h"
#include "containers/judging/compat/nvidia.h"
#include "containers/judging/compat/rules.h"
#include "containers/judging/compat/windows_images.h"

/* The arguments and state of one rule. */
struct compat_case {
	const struct image *image;
	const struct image_contents *contents; /* NULL: not read */
	const struct host_facts *host;
	const struct compat_options *options;
	struct compat_answer *answer;
	const struct compat_launch *launch;	    /* NULL: only the image */
	const struct catalogue_requirements *wants; /* of selection/; NULL: no catalogue */
	const struct compat_rule *rule;
	const struct host_gpu *gpu;  /* for a rule about GPUs */
	int worst;		     /* verdict of the findings about this GPU; -1: none yet */
	const char *advice, *source; /* for the next finding; NULL: the rule's */
};

/* Applies a rule, if it is about this host, once or to each of its GPUs. */
void compat_apply(struct compat_case *it, const struct compat_rule *rule);

/* Adds a finding of the rule, with the rule's source and, unless it works, its advice. `advice` and
 * `source` of the case, if set, replace them once. */
void compat_find(struct compat_case *it, enum compat_verdict verdict, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* UNKNOWN when the deciding facts are unknown, otherwise WORKS or CANNOT_WORK. */
enum compat_verdict case_verdict(bool known, bool fits);

/* CANNOT_WORK when `has` is an older version than `needs`, UNKNOWN when it is "". */
enum compat_verdict case_at_least(const char *has, const char *needs);
const char *case_known(const char *fact); /* "not known" for "" */

/* From the image's configuration; NULL: it has none. */
const char *case_variable(const struct compat_case *it, const char *name);

/* The next GPU of a vendor ("": of any), with its vendor's driver, from *index on; NULL: no more. *index
 * becomes the one after it. */
const struct host_gpu *case_gpu(const struct compat_case *it, const char *vendor, size_t *index);
bool case_has_gpu(const struct compat_case *it, const char *vendor);

/* Compute capability of an NVIDIA GPU, from the host or the table of models; "": unknown. */
const char *case_capability(const struct host_gpu *gpu);

/* "8.0", "9.0+PTX": machine code runs on the same major capability from its minor one on, PTX on
 * everything newer. */
bool case_code_runs(const char *element, size_t size, const char *capability);

/* "gfx90a", perhaps with features after a colon: "gfx90a:xnack-". */
bool case_code_is_of(const char *element, size_t size, const char *architecture);

/* Is a library of this name part of the user-land of NVIDIA's driver? */
bool case_is_nvidia_driver(const char *library);

/* The driver's version of a GPU, in NVIDIA's own numbering. */
const char *case_nvidia_driver(const struct compat_case *it, const struct host_gpu *gpu,
			       char out[NVIDIA_DRIVER_SIZE]);

bool case_on_windows(const struct compat_case *it);

/* The first of the image's libraries whose file name matches, preferably one with a version. NULL: none,
 * or the layers were not read. */
const struct contents_library *case_library(const struct compat_case *it, const char *glob);

/* Does a list ("gfx90a:xnack- gfx1100", separated by spaces, semicolons or commas) have an element for which
 * fits(element, its size, of) holds? */
bool case_list_has(const char *list, bool (*fits)(const char *element, size_t size, const char *of),
		   const char *of);

/* Release of the CUDA toolkit in the image: from CUDA_VERSION if that is a version, or from the name of
 * libcudart; "": unknown. */
const char *case_cuda_toolkit(const struct compat_case *it);

void rule_os(struct compat_case *it);
void rule_architecture(struct compat_case *it);
void rule_cpu_level(struct compat_case *it);
void rule_gpu_vendor(struct compat_case *it);
void rule_mounted_glibc(struct compat_case *it);
void rule_missing_libraries(struct compat_case *it);

void rule_windows_build(struct compat_case *it);
void rule_windows_isolation(struct compat_case *it);
void rule_windows_edition(struct compat_case *it);
void rule_windows_wddm(struct compat_case *it);
void rule_windows_device(struct compat_case *it);
void rule_windows_schema(struct compat_case *it);
void rule_windows_limits(struct compat_case *it);

void rule_nvidia_lock_step(struct compat_case *it);
void rule_nvidia_require(struct compat_case *it);
void rule_nvidia_variables(struct compat_case *it);
void rule_cuda_driver(struct compat_case *it);
void rule_cuda_forward(struct compat_case *it);
void rule_cuda_capability(struct compat_case *it);

void rule_rocm_release(struct compat_case *it);
void rule_amd_architecture(struct compat_case *it);
void rule_intel_platform(struct compat_case *it);

void rule_driver_library(struct compat_case *it);
void rule_image_driver(struct compat_case *it);
void rule_device_node(struct compat_case *it);

/* Driver files of a launch: launch_files.c. */

/* Does the grant mount a file whose name matches? */
bool launch_mounts(const struct compat_launch *launch, const char *glob);

/* The glibc that the launch's API needs to load a driver that the grant mounts; "": no such driver, or the
 * API may work without it. Owned by the arena. */
const char *launch_driver_glibc(const struct compat_launch *launch,
				const struct image_contents *contents, struct arena *arena);

/* Level of x86-64 in a platform's variant: 3 for "v3"; 0: none. */
unsigned platform_level(const struct image_platform *platform);

/* windows_image_judge(), as the runtime itself decides. */
struct windows_image_judgement windows_judge(struct windows_version host,
					     struct windows_version image,
					     enum compat_runtime runtime);
