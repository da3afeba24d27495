/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * compat/ holds the rules of what runs where: builds of Windows, versions of the schema of its container
 * service (HCS), hosts and images.
 *
 * This header: the builds of Windows that run containers, and the HCS schema of each. A schema that no
 * source names is NULL: only the machine itself knows it.
 */

#include "base/error.h"
#include "containers/judging/compat/hcs_versions.h"

enum { WINDOWS_BUILD_2016 = 14393, WINDOWS_BUILD_2022 = 20348, WINDOWS_BUILD_11 = 22000 };

/* The source of a row's schema. */
enum windows_build_source {
	WINDOWS_BUILD_DOCUMENTED, /* Microsoft's HCS schema reference */
	WINDOWS_BUILD_MEASURED,	  /* published results of the query */
	WINDOWS_BUILD_INFERRED,	  /* from other rows, or from assumptions of other programs */
	WINDOWS_BUILD_UNKNOWN,
};

struct windows_build {
	unsigned build;
	const char *name; /* "Windows Server 2022" */
	/* The newest schema; NULL: unknown. With it, the first revision that has it; 0: all have it. */
	const struct hcs_version *schema;
	unsigned since_revision;
	/* The lower limit, also where the newest is unknown. */
	struct hcs_version at_least;
	enum windows_build_source source;
};

/* All rows, by build. */
const struct windows_build *windows_builds(size_t *count);

/* The row of a build; NULL when the table lacks it. */
const struct windows_build *windows_build_find(unsigned build);

const char *windows_build_source_name(enum windows_build_source source); /* "documented" */

/* The lower limit of a build's schema: of its row, or of the newest row before it, because schema
 * versions are never removed. ERROR_NOT_FOUND: older than every row. */
int windows_build_at_least(unsigned build, struct hcs_version *out, struct error *err);

/* "20348", "20348.2582", "10.0.20348" or "10.0.20348.2582". */
struct windows_version {
	unsigned major, minor, build; /* 10.0 when only a build was given */
	bool revision_known;
	unsigned revision;
};

/* `what` names the value in errors. ERROR_FORMAT, ERROR_LIMIT. */
int windows_version_parse(const char *string, const char *what, struct windows_version *out,
			  struct error *err);
