/* SPDX-License-Identifier: MIT */
#include "conformance/runner/check.h"

static const struct requirement requirements[CHECK_REQUIREMENT_COUNT] = {
#define REQUIREMENT(symbol, id, level, sentence, source)                                           \
	[CHECK_##symbol] = {id, level, sentence, source, 0},
#define REQUIREMENT_LIMIT(symbol, id, level, before, limit, after, source)                         \
	[CHECK_##symbol] = {id, level, before #limit after, source, limit},
#include "conformance/runner/requirements.def"
#undef REQUIREMENT
};

const struct requirement *requirement_get(enum check_requirement requirement)
{
	if (requirement <= CHECK_REQUIREMENT_NONE || requirement >= CHECK_REQUIREMENT_COUNT)
		return NULL;
	return &requirements[requirement];
}

long long requirement_limit(enum check_requirement requirement)
{
	const struct requirement *found = requirement_get(requirement);

	return found != NULL ? found->limit : 0;
}

uint64_t requirement_limit_ms(enum check_requirement requirement)
{
	return (uint64_t)requirement_limit(requirement) * 1000;
}
