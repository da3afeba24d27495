/* SPDX-License-Identifier: MIT */
/*
 * A plugin's resources are unknown before it has registered, and no sign marks the last registration.
 * So the first check of a run watches until nothing new comes, and keeps the result for the later
 * checks, which wait for exactly that: rig->known is {resource: healthy devices}, and resources.json in
 * the run's directory.
 */
#include "conformance/checks/rig_known.h"

#include "base/clock.h"
#include "base/file.h"

enum {
	QUIET_MS = 5000, /* without news: the plugin has registered all */
	LEARN_MAX_MS = 45000,
	LOOK_MS = 50,
	KNOWN_MAX = 1024, /* resources */
};

static const char file_name[] = "resources.json";

size_t rig_count_healthy(const struct rig *rig, const char *resource)
{
	return kubelet_resource_status(rig->kubelet, resource).allocatable;
}

void rig_read_known(struct rig *rig)
{
	const char *path = check_run_path(rig->run, file_name);
	if (rig->known == NULL && file_exists(path))
		(void)json_read_file(path, &rig->known, NULL);
}

void rig_write_known(const struct rig *rig)
{
	struct error err = {0};
	if (cJSON_GetArraySize(rig->known) != 0 &&
	    json_write_file(check_run_path(rig->run, file_name), rig->known, &err) < 0)
		check_note(rig->run, "%s", err.text);
}

size_t rig_known_healthy(const struct rig *rig, const char *resource)
{
	const cJSON *known = cJSON_GetObjectItemCaseSensitive(rig->known, resource);
	return cJSON_IsNumber(known) ? (size_t)known->valuedouble : 1;
}

void rig_set_known(struct rig *rig, const char *resource, size_t healthy)
{
	if (rig->known == NULL)
		rig->known = cJSON_CreateObject();
	cJSON *known = cJSON_GetObjectItemCaseSensitive(rig->known, resource);
	if (known != NULL)
		(void)cJSON_SetNumberValue(known, (double)healthy);
	else if (cJSON_GetArraySize(rig->known) < KNOWN_MAX)
		(void)cJSON_AddNumberToObject(rig->known, resource, (double)healthy);
}

bool rig_update_known(struct rig *rig)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool news = false;
	kubelet_resource_names(rig->kubelet, &names);
	text_each (name, &names) {
		size_t healthy = rig_count_healthy(rig, name);
		if (cJSON_GetObjectItemCaseSensitive(rig->known, name) == NULL ||
		    healthy > rig_known_healthy(rig, name)) {
			rig_set_known(rig, name, healthy);
			news = true;
		}
	}
	return news;
}

void rig_learn(struct rig *rig)
{
	uint64_t quiet_ms = context_limit_ms(rig->context, QUIET_MS);
	uint64_t healthy_ms = context_limit_ms(rig->context, RIG_HEALTHY_MS);
	size_t seen = rig->first_registration;
	if (rig->known != NULL || rig->context->reference_plugin ||
	    kubelet_registration_count(rig->kubelet) == seen)
		return;

	struct text_list attempted CLEANUP_TEXT_LIST = {0};
	uint64_t start = clock_monotonic_ms();
	uint64_t news = start;
	while (rig->plugin == NULL || !process_has_ended(rig->plugin)) {
		uint64_t now = clock_monotonic_ms();
		bool lacks_devices = cJSON_GetArraySize(rig->known) != 0;
		json_each (each, rig->known)
			lacks_devices = lacks_devices && each->valuedouble <= 0;
		if (rig_update_known(rig))
			news = now;
		for (; seen < kubelet_registration_count(rig->kubelet); seen++) {
			const char *resource =
				kubelet_registration_at(rig->kubelet, seen)->resource;
			if (resource == NULL || text_list_has(&attempted, resource))
				continue;
			text_list_add(&attempted, resource);
			news = now;
		}
		if (now - start >= LEARN_MAX_MS ||
		    (now - news >= quiet_ms && (!lacks_devices || now - start >= healthy_ms)))
			break;
		loop_run_for(&rig->loop, LOOK_MS);
	}
	rig_write_known(rig);
}
