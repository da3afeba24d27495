/* SPDX-License-Identifier: MIT */
#pragma once

/* What the rules' own files share. */

#include "containers/compat/rules.h"
#include "containers/compat/windows_images.h"

/* One rule at work. */
struct compat_case {
	const struct image *image;
	const struct image_contents *contents; /* NULL: not read */
	const struct host_facts *host;
	const struct compat_options *options;
	struct compat_answer *answer;
	const struct compat_rule *rule;
};

/* Adds a finding of the rule. `advice` and `source` are static, or of memory that outlives the
 * answer; `source` NULL: the rule's own. */
void compat_find(struct compat_case *it, enum compat_verdict verdict, const char *advice,
		 const char *source, const char *format, ...) PRINTF_LIKE(5, 6);

/* Of the image's configuration; NULL: it does not have it. */
const char *case_variable(const struct compat_case *it, const char *name);
const char *case_label(const struct compat_case *it, const char *name);

/* The GPU of a vendor from `index` on; NULL: no other. *index goes behind it. */
const struct host_gpu *case_gpu(const struct compat_case *it, const char *vendor, size_t *index);
bool case_has_gpu(const struct compat_case *it, const char *vendor);

bool case_on_linux(const struct compat_case *it);
bool case_on_windows(const struct compat_case *it);

/* Does the file name of one of the image's libraries fit? NULL: none, or the layers were not read. */
const struct contents_library *case_library(const struct compat_case *it, const char *glob);

/* Release of the CUDA toolkit in the image: CUDA_VERSION, or what libcudart is called; "". The
 * variable is the image's and may hold anything: "" when it is not a version. */
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

/* Level of x86-64 that a platform's variant names: 3 of "v3"; 0: none. */
unsigned platform_level(const struct image_platform *platform);

/* windows_image_judge(), as the runtime itself decides. */
struct windows_image_judgement windows_judge(struct windows_version host,
					     struct windows_version image,
					     enum compat_runtime runtime);
