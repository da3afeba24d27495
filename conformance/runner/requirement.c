/* SPDX-License-Identifier: MIT */
#include "conformance/runner/check.h"

static const struct requirement requirements[CHECK_REQUIREMENT_COUNT] = {
#define REQUIREMENT(symbol, id, level, sentence, source)                                           \
	[CHECK_##symbol] = {id, level, sentence, source},
#include "conformance/checks/requirements.def"
#undef REQUIREMENT
};

const struct requirement *requirement_get(enum check_requirement requirement)
{
	if (requirement <= CHECK_REQUIREMENT_NONE || requirement >= CHECK_REQUIREMENT_COUNT)
		return NULL;
	return &requirements[requirement];
}
