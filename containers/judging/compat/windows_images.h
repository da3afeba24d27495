/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Does a container image of one Windows build run on a host of another, in process isolation? Only containers
 * in process isolation get GPUs.
 *
 * Two sources: the rule that container runtimes apply (hcsshim
 * osversion/platform_compat_windows.go, containerd platforms platform_windows_compat.go) and the
 * table that Microsoft publishes (MicrosoftDocs/Virtualization-Documentation,
 * deploy-containers/version-compatibility.md). Where they contradict each other, the answer depends
 * on the runtime.
 */

#include "containers/judging/compat/windows_builds.h"

enum windows_image_answer {
	WINDOWS_IMAGE_RUNS,
	WINDOWS_IMAGE_REFUSED,
	WINDOWS_IMAGE_RUNTIME_DEPENDENT, /* the sources contradict each other */
	WINDOWS_IMAGE_UNKNOWN,		 /* depends on a revision that was not given */
};

struct windows_image_judgement {
	enum windows_image_answer answer;
	const char *reason; /* static */
};

struct windows_image_judgement windows_image_judge(struct windows_version host,
						   struct windows_version image);

/* Only the rule of the runtimes. */
bool windows_image_rule(struct windows_version host, struct windows_version image);

/*
 * In Hyper-V isolation, only by Microsoft's table; such a container gets no GPU. UNKNOWN: the
 * table says nothing about this host or image.
 */
enum windows_image_answer windows_image_hyperv(struct windows_version host,
					       struct windows_version image);

const char *windows_image_answer_name(enum windows_image_answer answer); /* "runtime-dependent" */
