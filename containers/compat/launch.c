/* SPDX-License-Identifier: MIT */
#include "containers/compat/launch.h"

#include "base/gpu_apis.h"
#include "containers/compat/case.h"

#include <string.h>

static bool tells_of(const struct compat_rule *rule, const struct compat_launch *launch)
{
	return rule->scope == COMPAT_OF_PROGRAM ||
	       (rule->scope == COMPAT_OF_DEVICE && (launch->api != NULL || launch->node != NULL));
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
	size_t count = 0;
	const struct compat_rule *rules = compat_rules(&count);
	for (size_t i = 0; i < count; i++) {
		if (!text_equal(rules[i].id, rule) ||
		    rules[i].scope != (ran ? COMPAT_OF_DEVICE : COMPAT_OF_PROGRAM))
			continue;
		for (const char *const *symptom = rules[i].symptoms; *symptom != NULL; symptom++) {
			if (strstr(text, *symptom) != NULL)
				return true;
		}
	}
	return false;
}
