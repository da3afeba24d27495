/* SPDX-License-Identifier: MIT */
/* NVIDIA_REQUIRE_* over arbitrary bytes: an answer, or an error that says why; with unknown facts the
 * answer never contradicts the one with known facts. */
#include "containers/judging/compat/requirement.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct requirement_facts nothing = {"", "", "", "", NULL};
	static const struct requirement_facts all = {"12.4", "550.54.15", "9.0", "tesla", NULL};
	enum requirement_answer open = REQUIREMENT_MET;
	enum requirement_answer exact = REQUIREMENT_MET;
	struct error err = {0};
	char *text = strndup((const char *)data, size);
	require(text != NULL);
	int rc = requirement_evaluate(text, &nothing, &open, &err);
	require(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	require(requirement_evaluate(text, &all, &exact, &err) == rc);
	if (rc == 0) {
		require(exact != REQUIREMENT_UNKNOWN);
		require(open == REQUIREMENT_UNKNOWN || open == exact);
	}
	free(text);
	return 0;
}
