/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * compat/ holds what runs where: builds of Windows, versions of the schema of its container service
 * (HCS), hosts and images.
 *
 * The builds of Windows that run containers, and which HCS schema each has. What no source tells is
 * NULL: then only the machine itself can say.
 */

#include "base/error.h"
#include "containers/compat/hcs_versions.h"

enum { WINDOWS_BUILD_2016 = 14393, WINDOWS_BUILD_2022 = 20348, WINDOWS_BUILD_11 = 22000 };

/* Where a row's schema is from. */
enum windows_build_source {
	WINDOWS_BUILD_DOCUMENTED, /* Microsoft's HCS schema reference */
	WINDOWS_BUILD_MEASURED,	  /* published results of the query */
	WINDOWS_BUILD_INFERRED,	  /* from what other rows or other programs take for granted */
	WINDOWS_BUILD_UNKNOWN,
};

struct windows_build {
	unsigned build;
	const char *name;     /* "Windows Server 2022" */
	const char *codename; /* "Iron"; "" when there is none in use */
	/* The newest schema; NULL: no source tells. With it, from which revision on; 0: from the
	 * first. */
	const struct hcs_version *schema;
	unsigned since_revision;
	/* What it has at least, also where the newest is not known. */
	struct hcs_version at_least;
	enum windows_build_source source;
};

/* All rows, by build. */
const struct windows_build *windows_builds(size_t *count);

/* The row of a build; NULL when it is in no table. */
const struct windows_build *windows_build_find(unsigned build);

const char *windows_build_source_name(enum windows_build_source source); /* "documented" */

/* The schema that a build has at least: of its row, or of the newest row before it, because schema
 * versions do not go away. ERROR_NOT_FOUND: older than every row. */
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
