/* SPDX-License-Identifier: MIT */
#pragma once

/* Images and hosts for tests of rules: literals, and what a rule finds about them. */

#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "containers/judging/compat/rules.h"

#define LINUX_AMD64    .platform = {"linux", "amd64", "", ""}
#define WINDOWS(build) .platform = {"windows", "amd64", "", build}

/* An image with variables. */
#define IMAGE(platform_, ...)                                                                      \
	(const struct image)                                                                       \
	{                                                                                          \
		.reference = "example.com/image:1", .digest = "", platform_,                       \
		.environment = (struct json_pair[]){__VA_ARGS__},                                  \
		.environment_count =                                                               \
			sizeof((struct json_pair[]){__VA_ARGS__}) / sizeof(struct json_pair),      \
	}
#define NO_VARIABLE                                                                                \
	{                                                                                          \
		"PATH", "/bin"                                                                     \
	}

static inline struct host_gpu gpu(const char *vendor, const char *name, const char *version)
{
	return (struct host_gpu){.vendor = vendor,
				 .name = name,
				 .brand = "",
				 .driver = strcmp(vendor, "nvidia") == 0 ? "nvidia"
					   : strcmp(vendor, "amd") == 0	 ? "amdgpu"
									 : "i915",
				 .driver_version = version,
				 .compute_capability = "",
				 .cuda_version = "",
				 .architecture = "",
				 .wddm = ""};
}

static inline struct host_facts host(const char *os, const char *os_version, struct host_gpu *gpus,
				     size_t count)
{
	struct host_facts facts = {.os = os,
				   .architecture = "amd64",
				   .os_version = os_version,
				   .windows_edition = "",
				   .hcs_schema = "",
				   .kernel = "6.1.0-18-amd64",
				   .driver_glibc = "",
				   .gpus = gpus,
				   .gpu_count = count};
	if (os_version[0] != '\0')
		CU_ASSERT_EQUAL(windows_version_parse(os_version, "", &facts.windows, NULL), 0);
	return facts;
}

/* The worst finding of a rule; NULL: it found nothing. */
static inline const struct compat_finding *finding_of(const struct compat_answer *answer,
						      const char *rule)
{
	const struct compat_finding *worst = NULL;
	for (size_t i = 0; i < answer->count; i++) {
		const struct compat_finding *one = &answer->findings[i];
		CU_ASSERT_TRUE(one->source[0] != '\0' && one->reason[0] != '\0');
		if (strcmp(one->rule, rule) == 0 &&
		    (worst == NULL || one->verdict > worst->verdict))
			worst = one;
	}
	return worst;
}

/* -1: the rule finds nothing. `says`: a part of its reason. */
static inline void expect_at(const struct image *image, const struct image_contents *contents,
			     const struct host_facts *on, const struct compat_options *options,
			     const char *rule, int verdict, const char *says, unsigned line,
			     const char *file)
{
	static const struct compat_options none = {0};
	struct compat_answer answer CLEANUP_COMPAT_ANSWER = {0};
	compat_check(image, contents, on, options != NULL ? options : &none, &answer);
	const struct compat_finding *finding = finding_of(&answer, rule);
	unit_int(finding != NULL ? (int)finding->verdict : -1, verdict, line, file);
	if (finding != NULL)
		unit_contains(finding->reason, says, line, file);
}

#define EXPECT(image, contents, on, options, rule, verdict, says)                                  \
	expect_at(image, contents, on, options, rule, verdict, says, __LINE__, __FILE__)
#define NOTHING (-1)
