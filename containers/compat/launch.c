/* SPDX-License-Identifier: MIT */
#include "containers/compat/launch.h"

#include "base/gpu_apis.h"
#include "containers/compat/case.h"

#include <string.h>

/* What does not work when a rule says so. */
enum scope {
	OF_PROGRAM = 1, /* the program that is launched */
	OF_DEVICE,	/* each API of a device that the container is given */
};

/* The rules that tell something of a launch, and what one says that fails for this, NULL-ended. */
static const struct {
	const char *rule;
	enum scope scope;
	const char *symptoms[4];
} rows[] = {
	{"platform.os", OF_PROGRAM, {NULL}},
	{"platform.architecture", OF_PROGRAM, {"exec format error", "no match for platform", NULL}},
	{"windows.build", OF_PROGRAM, {"does not match the host operating system", NULL}},
	{"windows.isolation", OF_DEVICE, {NULL}},
	{"windows.edition", OF_DEVICE, {NULL}},
	{"windows.wddm", OF_DEVICE, {NULL}},
	{"windows.device-type", OF_DEVICE, {NULL}},
	{"windows.device-schema", OF_DEVICE, {NULL}},
	{"linux.driver-glibc", OF_DEVICE, {"version `GLIBC_", NULL}},
	{"linux.missing-libraries",
	 OF_PROGRAM,
	 {"error while loading shared libraries", "' not found (required by ", NULL}},
	{"linux.driver-library", OF_DEVICE, {NULL}},
	{"linux.device-node", OF_DEVICE, {"EPERM", NULL}},
};

/* ARRAY_SIZE(rows): it tells nothing of a launch. */
static size_t row_of(const char *rule)
{
	size_t row = 0;
	while (row < ARRAY_SIZE(rows) && strcmp(rows[row].rule, rule) != 0)
		row++;
	return row;
}

static bool tells_of(const struct compat_rule *rule, const struct compat_launch *launch)
{
	size_t row = row_of(rule->id);
	return row < ARRAY_SIZE(rows) &&
	       (rows[row].scope == OF_PROGRAM || launch->api != NULL || launch->node != NULL);
}

static enum compat_api api_of(const struct compat_launch *launch)
{
	const struct gpu_api *api = launch->api != NULL ? gpu_api_find(launch->api) : NULL;
	if (api == NULL)
		return COMPAT_API_ANY;
	if (text_equal(api->offered, "directx"))
		return COMPAT_API_DIRECTX;
	return text_equal(api->name, "cuda") ? COMPAT_API_CUDA : COMPAT_API_OTHER;
}

int compat_check_launch(const struct image *image, const struct image_contents *contents,
			const struct host_facts *host, const struct compat_launch *launch,
			struct compat_answer *answer, struct error *err)
{
	const struct grant_list *devices = launch->grant != NULL ? &launch->grant->devices : NULL;
	const char *entrypoint[] = {launch->program};
	const struct compat_options options = {
		.runtime = launch->runtime,
		.api = api_of(launch),
		.device =
			devices != NULL && devices->count > 0 ? devices->items[0].host_path : NULL,
	};
	struct image started = *image;
	struct host_facts seen = *host;
	size_t count = 0;
	const struct compat_rule *rules = compat_rules(&count);
	started.entrypoint = entrypoint;
	started.entrypoint_count = 1;
	seen.driver_glibc = launch_driver_glibc(launch, contents, &answer->arena);
	struct compat_case it = {.image = &started,
				 .contents = contents,
				 .host = &seen,
				 .options = &options,
				 .answer = answer,
				 .launch = launch};
	for (size_t i = 0; i < count; i++) {
		if (tells_of(&rules[i], launch))
			compat_apply(&it, &rules[i]);
	}
	return answer->arena.failed ? error_memory(err) : 0;
}

bool compat_rule_shows(const char *rule, bool ran, const char *text)
{
	size_t row = row_of(rule);
	if (row == ARRAY_SIZE(rows) || (rows[row].scope == OF_DEVICE) != ran)
		return false;
	for (const char *const *symptom = rows[row].symptoms; *symptom != NULL; symptom++) {
		if (strstr(text, *symptom) != NULL)
			return true;
	}
	return false;
}
