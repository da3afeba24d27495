/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/launch.h"

#include "base/gpu_apis.h"
#include "containers/judging/compat/case.h"

#include <string.h>

void compat_check_launch(const struct image *image, const struct image_contents *contents,
			 const struct host_facts *host, const struct compat_launch *launch,
			 struct compat_answer *answer)
{
	struct compat_options options = {.runtime = launch->runtime, .api = COMPAT_API_ANY};
	const struct gpu_api *api = launch->api != NULL ? gpu_api_find(launch->api) : NULL;
	if (api != NULL && text_equal(api->offered, "directx"))
		options.api = COMPAT_API_DIRECTX;
	else if (api != NULL)
		options.api = text_equal(api->name, "cuda") ? COMPAT_API_CUDA : COMPAT_API_OTHER;
	if (launch->grant != NULL && launch->grant->devices.count > 0)
		options.device = launch->grant->devices.items[0].host_path;

	const char *entrypoint[] = {launch->program};
	struct image started = *image;
	started.entrypoint = entrypoint;
	started.entrypoint_count = 1;
	struct host_facts with_driver = *host;
	with_driver.driver_glibc = launch_driver_glibc(launch, contents, &answer->arena);
	struct compat_case it = {.image = &started,
				 .contents = contents,
				 .host = &with_driver,
				 .options = &options,
				 .answer = answer,
				 .launch = launch};

	const bool has_device = launch->api != NULL || launch->node != NULL;
	size_t count = 0;
	const struct compat_rule *rules = compat_rules(&count);
	for (size_t i = 0; i < count; i++) {
		if (rules[i].scope == COMPAT_OF_PROGRAM ||
		    (rules[i].scope == COMPAT_OF_DEVICE && has_device))
			compat_apply(&it, &rules[i]);
	}
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
