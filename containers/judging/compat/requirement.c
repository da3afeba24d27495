/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/requirement.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/version.h"

#include <stdbool.h>
#include <string.h>

enum property { PROPERTY_CUDA, PROPERTY_DRIVER, PROPERTY_ARCH, PROPERTY_BRAND, PROPERTY_OTHER };

static const char *const properties[] = {"cuda", "driver", "arch", "brand", NULL};

/* The results of a comparison that a sign accepts; longer signs first. */
static const struct comparison {
	const char *sign;
	bool less, equal, greater;
} comparisons[] = {
	{"!=", true, false, true}, {"<=", true, true, false}, {">=", false, true, true},
	{"=", false, true, false}, {"<", true, false, false}, {">", false, false, true},
};

static enum requirement_answer answer_of(bool met)
{
	return met ? REQUIREMENT_MET : REQUIREMENT_NOT_MET;
}

static enum requirement_answer compare(enum property property, const struct comparison *by,
				       const char *value, const struct requirement_facts *facts)
{
	const char *const known[] = {
		[PROPERTY_CUDA] = facts->cuda,
		[PROPERTY_DRIVER] = facts->driver,
		[PROPERTY_ARCH] = facts->arch,
		[PROPERTY_BRAND] = facts->brand,
	};
	const char *fact = known[property];
	const char *below = facts->cuda_below;
	if (fact[0] == '\0')
		return REQUIREMENT_UNKNOWN;
	int order = property == PROPERTY_BRAND ? strcmp(fact, value) : version_compare(fact, value);
	if (property != PROPERTY_CUDA || below == NULL)
		return answer_of(order < 0 ? by->less : order > 0 ? by->greater : by->equal);

	/* The version lies from the fact on and below `below` ("": no end). */
	if (order > 0)
		return answer_of(by->greater);
	if (below[0] != '\0' && version_compare(value, below) >= 0)
		return answer_of(by->less);
	if (order == 0 && by->equal == by->greater)
		return answer_of(by->equal);
	return REQUIREMENT_UNKNOWN;
}

/* *ignored: the condition is empty, or about an unknown property. */
static int evaluate_condition(const char *condition, const struct requirement_facts *facts,
			      enum requirement_answer *answer, bool *ignored, struct error *err)
{
	size_t size = strcspn(condition, "<>=!");
	char *name CLEANUP_FREE = memory_copy_start(condition, size);
	enum property property = (enum property)text_position(properties, name);
	*ignored = condition[0] == '\0' || (condition[size] != '\0' && property == PROPERTY_OTHER);
	if (*ignored)
		return 0;

	const struct comparison *by = NULL;
	for (size_t i = 0; by == NULL && i < ARRAY_SIZE(comparisons); i++) {
		if (text_starts_with(condition + size, comparisons[i].sign))
			by = &comparisons[i];
	}
	if (by == NULL)
		return error_set(err, ERROR_FORMAT, "invalid constraint: '%.80s'", condition);
	const char *value = condition + size + strlen(by->sign);
	if (property != PROPERTY_BRAND && !version_is_valid(value[0] == 'v' ? value + 1 : value))
		return error_set(err, ERROR_FORMAT,
				 "invalid constraint: '%.80s': a version is expected after '%s'",
				 condition, by->sign);
	if (property != PROPERTY_BRAND && value[0] == 'v')
		value++;
	*answer = compare(property, by, value, facts);
	return 0;
}

/* One of the terms between spaces must hold, and all conditions between commas. *ignored: all parts
 * were ignored. */
static int evaluate(const char *text, char separator, const struct requirement_facts *facts,
		    enum requirement_answer *answer, bool *ignored, struct error *err)
{
	struct text_list parts CLEANUP_TEXT_LIST = {0};
	const bool all = separator == ',';
	int rc = 0;
	text_list_split(&parts, text, separator);
	*answer = answer_of(all);
	*ignored = true;
	for (size_t i = 0; rc == 0 && i < parts.count; i++) {
		enum requirement_answer one = REQUIREMENT_MET;
		bool skip = false;
		rc = all ? evaluate_condition(parts.items[i], facts, &one, &skip, err)
			 : evaluate(parts.items[i], ',', facts, &one, &skip, err);
		if (rc < 0 || skip)
			continue;
		*ignored = false;
		if (all ? one > *answer : one < *answer)
			*answer = one;
	}
	return rc;
}

int requirement_evaluate(const char *requirement, const struct requirement_facts *facts,
			 enum requirement_answer *answer, struct error *err)
{
	bool ignored = true;
	if (strlen(requirement) > REQUIREMENT_SIZE_MAX)
		return error_set(err, ERROR_LIMIT, "longer than %d bytes",
				 (int)REQUIREMENT_SIZE_MAX);
	int rc = evaluate(requirement, ' ', facts, answer, &ignored, err);
	if (rc == 0 && ignored)
		*answer = REQUIREMENT_MET;
	return rc;
}
