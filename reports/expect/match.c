/* SPDX-License-Identifier: MIT */
#include "reports/expect/expectations.h"

#include "base/cleanup.h"
#include "base/version.h"
#include "reports/environment.h"
#include "reports/view.h"

#include <string.h>

static bool is_or_any(const char *wanted, const char *seen)
{
	return wanted[0] == '\0' || text_equal(wanted, seen);
}

/* An unknown version is in no range. */
static bool is_in_or_any(const char *range, const char *version)
{
	return range[0] == '\0' || (version[0] != '\0' && version_in_range(version, range));
}

static bool driver_matches(const struct expectation_match *match, const cJSON *environment)
{
	if (match->driver[0] == '\0' && match->driver_version[0] == '\0')
		return true;
	json_each (driver, cJSON_GetObjectItemCaseSensitive(environment, "drivers")) {
		if (is_or_any(match->driver, view_string(driver, "/key")) &&
		    is_in_or_any(match->driver_version, view_string(driver, "/version")))
			return true;
		/* The user-mode driver: "Mesa 25.0.7". */
		const char *user_mode = view_string(driver, "/userMode");
		const size_t size = strcspn(user_mode, " ");
		const char *version = user_mode + size + (user_mode[size] != '\0');
		if ((match->driver[0] == '\0' || (strlen(match->driver) == size &&
						  strncmp(match->driver, user_mode, size) == 0)) &&
		    is_in_or_any(match->driver_version, version))
			return true;
	}
	return false;
}

static bool device_matches(const struct expectation_match *match, const cJSON *environment)
{
	if (match->device[0] == '\0')
		return true;
	json_each (device, cJSON_GetObjectItemCaseSensitive(environment, "devices")) {
		if (text_glob(match->device, view_string(device, "/hardwareId")) ||
		    text_glob(match->device, view_string(device, "/name")))
			return true;
	}
	return false;
}

static bool matches(const struct expectation_match *match, const cJSON *environment)
{
	struct text build CLEANUP_TEXT = {0};
	environment_add_build(cJSON_GetObjectItemCaseSensitive(environment, "os"), &build);
	return is_or_any(match->os, view_string(environment, "/os/name")) &&
	       is_in_or_any(match->os_build, text_string(&build)) &&
	       is_or_any(match->runtime, view_string(environment, "/runtime/name")) &&
	       is_in_or_any(match->runtime_version, view_string(environment, "/runtime/version")) &&
	       is_or_any(match->node, view_string(environment, "/node/kind")) &&
	       driver_matches(match, environment) && device_matches(match, environment);
}

static size_t weight_of(const struct expectation_match *match)
{
	const char *const members[] = {
		match->os,	match->os_build,	match->driver, match->driver_version,
		match->runtime, match->runtime_version, match->device, match->node};
	size_t weight = 0;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		weight += members[i][0] != '\0';
	return weight;
}

int expectations_find(const struct expectations *expectations, const char *check, unsigned revision,
		      const cJSON *environment, const struct expectation **out, struct error *err)
{
	const struct expectation *alike = NULL;
	*out = NULL;
	for (size_t i = 0; i < expectations->count; i++) {
		const struct expectation *row = &expectations->rows[i];
		if (!text_equal(row->check, check) ||
		    (row->revision != 0 && row->revision != revision) ||
		    !matches(&row->match, environment))
			continue;
		const size_t before = *out != NULL ? weight_of(&(*out)->match) : 0;
		const size_t now = weight_of(&row->match);
		if (*out != NULL && now < before)
			continue;
		alike = *out != NULL && now == before ? *out : NULL;
		*out = row;
	}
	return alike == NULL ? 0
			     : error_set(err, ERROR_FORMAT,
					 "%s and %s both match %s, and neither asks for more: make "
					 "one of them more specific",
					 alike->entry, (*out)->entry, check);
}
