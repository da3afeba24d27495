/* SPDX-License-Identifier: MIT */
#include "tools/query-hcs-capabilities/capabilities.h"

#include <string.h>

static bool is_windows(const struct capabilities *capabilities)
{
	return strcmp(capabilities->os, "windows") == 0;
}

/* A revision that is not known counts as a newer one: hosts get updates. */
static bool row_holds(const struct windows_build *row, struct windows_version version)
{
	return !version.revision_known || version.revision >= row->since_revision;
}

const struct hcs_version *capabilities_schema(const struct capabilities *capabilities,
					      struct hcs_version *at_least)
{
	const struct windows_build *row = windows_build_find(capabilities->version.build);
	const struct hcs_version *newest = NULL;

	*at_least = (struct hcs_version){0};
	if (capabilities->asked) {
		newest = hcs_versions_newest(&capabilities->service.versions);
		if (newest != NULL)
			*at_least = *newest;
		return newest;
	}
	if (!is_windows(capabilities) ||
	    windows_build_at_least(capabilities->version.build, at_least, NULL) < 0)
		return NULL;
	if (row != NULL && row->schema != NULL && row_holds(row, capabilities->version)) {
		*at_least = *row->schema;
		return row->schema;
	}
	return NULL;
}

enum capabilities_answer capabilities_allow(const struct capabilities *capabilities,
					    enum hcs_device device)
{
	struct hcs_version at_least = {0};
	const struct hcs_version *newest = capabilities_schema(capabilities, &at_least);

	if (hcs_version_compare(at_least, hcs_device_since(device)) >= 0)
		return CAPABILITIES_YES;
	/* A service that answered and has no version 2 has neither way. */
	return newest != NULL || capabilities->asked ? CAPABILITIES_NO : CAPABILITIES_UNKNOWN;
}
