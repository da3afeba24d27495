/* SPDX-License-Identifier: MIT */
/*
 * What a plugin offers is not known before it has registered, and there is no sign that it has
 * registered all. So the first check of a run watches until nothing new comes, and leaves what it
 * saw to the later ones, which wait for just that: rig->known is {resource: healthy devices}, and
 * resources.json in the run's directory.
 */
#include "conformance/checks/rig_known.h"

#include "base/clock.h"
#include "base/file.h"

enum {
	QUIET_MS = 5000, /* nothing new for so long: the plugin offers what it has */
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
	else if (rig->known != NULL && cJSON_GetArraySize(rig->known) < KNOWN_MAX)
		(void)cJSON_AddNumberToObject(rig->known, resource, (double)healthy);
}

bool rig_update_known(struct rig *rig)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool news = false;
	if (kubelet_resource_names(rig->kubelet, &names, NULL) < 0)
		return false;
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

/* Resources are known, and none with a healthy device. */
static bool lacks_devices(const struct rig *rig)
{
	json_each (each, rig->known) {
		if (each->valuedouble > 0)
			return false;
	}
	return cJSON_GetArraySize(rig->known) != 0;
}

/* Has a resource been tried to be registered that was not before? */
static bool has_new_attempt(const struct rig *rig, struct text_list *attempted, size_t *seen)
{
	bool found = false;
	for (; *seen < kubelet_registration_count(rig->kubelet); ++*seen) {
		const char *resource = kubelet_registration_at(rig->kubelet, *seen)->resource;
		if (resource != NULL && !text_list_has(attempted, resource))
			found = text_list_add(attempted, resource, NULL) == 0;
	}
	return found;
}

void rig_learn(struct rig *rig)
{
	uint64_t quiet_ms = context_limit_ms(rig->context, QUIET_MS);
	uint64_t healthy_ms = context_limit_ms(rig->context, RIG_HEALTHY_MS);
	uint64_t start = clock_monotonic_ms();
	uint64_t news = start;
	struct text_list attempted CLEANUP_TEXT_LIST = {0};
	size_t seen = rig->first_registration;
	if (rig->known != NULL || rig->context->reference_plugin ||
	    kubelet_registration_count(rig->kubelet) == seen)
		return;
	while (rig->plugin == NULL || !process_has_ended(rig->plugin)) {
		uint64_t now = clock_monotonic_ms();
		bool waits = lacks_devices(rig);
		if (rig_update_known(rig) || has_new_attempt(rig, &attempted, &seen))
			news = now;
		if (now - start >= LEARN_MAX_MS ||
		    (now - news >= quiet_ms && (!waits || now - start >= healthy_ms)))
			break;
		loop_run_for(&rig->loop, LOOK_MS);
	}
	rig_write_known(rig);
}
