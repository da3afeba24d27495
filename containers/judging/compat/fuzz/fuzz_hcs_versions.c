/* SPDX-License-Identifier: MIT */
/* Answers of the Host Compute Service over arbitrary bytes: versions in order and each once, or an
 * error that says why. */
#include "containers/judging/compat/hcs_versions.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hcs_versions versions = {0};
	struct error err = {0};
	int rc = hcs_versions_parse((const char *)data, size, &versions, &err);
	if (rc < 0) {
		require(err.code == rc && err.text[0] != '\0');
		return 0;
	}
	require(versions.count > 0 && versions.count <= HCS_VERSIONS_MAX);
	for (size_t i = 1; i < versions.count; i++)
		require(hcs_version_compare(versions.items[i - 1], versions.items[i]) < 0);
	return 0;
}
