/* SPDX-License-Identifier: MIT */
#include "conformance/checks/rig_known.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"

#include <string.h>

enum {
	RIG_QUIET_MS = 5000, /* nothing new for so long: the plugin offers what it has */
	RIG_LEARN_MAX_MS = 45000,
	RIG_LOOK_MS = 50,
	RIG_KNOWN_MAX = 1024, /* resources */
};

static char *rig_known_path(const struct rig *rig)
{
	return path_join(rig->context->run_directory, "resources.json");
}

void rig_known_read(struct rig *rig)
{
	char *path CLEANUP_FREE = rig_known_path(rig);

	if (rig->known == NULL && path != NULL && file_exists(path))
		(void)json_read_file(path, &rig->known, NULL);
}

void rig_known_write(const struct rig *rig)
{
	char *path CLEANUP_FREE = rig_known_path(rig);
	struct error err = {0};

	if (rig->known != NULL && path != NULL && json_write_file(path, rig->known, &err) < 0)
		check_note(rig->run, "%s", err.text);
}

size_t rig_healthy(const struct rig *rig, const char *resource)
{
	return kubelet_resource_status(rig->kubelet, resource).allocatable;
}

size_t rig_known_healthy(const struct rig *rig, const char *resource)
{
	const cJSON *known = cJSON_GetObjectItemCaseSensitive(rig->known, resource);

	return cJSON_IsNumber(known) ? (size_t)known->valuedouble : 1;
}

void rig_known_set(struct rig *rig, const char *resource, size_t healthy)
{
	if (rig->known == NULL)
		rig->known = cJSON_CreateObject();
	cJSON *known = cJSON_GetObjectItemCaseSensitive(rig->known, resource);

	if (known != NULL)
		(void)cJSON_SetNumberValue(known, (double)healthy);
	else if (rig->known != NULL && cJSON_GetArraySize(rig->known) < RIG_KNOWN_MAX)
		(void)cJSON_AddNumberToObject(rig->known, resource, (double)healthy);
}

bool rig_known_update(struct rig *rig)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool news = false;

	if (kubelet_resource_names(rig->kubelet, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.count; i++) {
		size_t healthy = rig_healthy(rig, names.items[i]);

		if (cJSON_GetObjectItemCaseSensitive(rig->known, names.items[i]) == NULL ||
		    healthy > rig_known_healthy(rig, names.items[i])) {
			rig_known_set(rig, names.items[i], healthy);
			news = true;
		}
	}
	return news;
}

static bool rig_offers_devices(const struct rig *rig)
{
	const cJSON *each = NULL;

	cJSON_ArrayForEach (each, rig->known) {
		if (each->valuedouble > 0)
			return true;
	}
	return false;
}

/* Has a resource been tried to be registered that was not before? */
static bool rig_has_new_attempt(const struct rig *rig, struct text_list *attempted, size_t *seen)
{
	bool found = false;

	for (; *seen < kubelet_registration_count(rig->kubelet); ++*seen) {
		const char *resource = kubelet_registration_at(rig->kubelet, *seen)->resource;

		if (resource != NULL && !text_list_has(attempted, resource))
			found = text_list_add(attempted, resource, NULL) == 0;
	}
	return found;
}

static void rig_watch_news(struct rig *rig)
{
	uint64_t quiet_ms = context_limit_ms(rig->context, RIG_QUIET_MS);
	uint64_t healthy_ms = context_limit_ms(rig->context, RIG_HEALTHY_MS);
	uint64_t start = clock_monotonic_ms();
	uint64_t news = start;
	struct text_list attempted CLEANUP_TEXT_LIST = {0};
	size_t seen = rig->first_registration;

	while (rig->plugin == NULL || !plugin_process_has_ended(rig->plugin)) {
		uint64_t now = clock_monotonic_ms();
		bool waits = cJSON_GetArraySize(rig->known) != 0 && !rig_offers_devices(rig);

		if (rig_known_update(rig) || rig_has_new_attempt(rig, &attempted, &seen))
			news = now;
		if (now - start >= RIG_LEARN_MAX_MS ||
		    (now - news >= quiet_ms && (!waits || now - start >= healthy_ms)))
			break;
		loop_run_for(&rig->loop, RIG_LOOK_MS);
	}
	if (cJSON_GetArraySize(rig->known) != 0)
		rig_known_write(rig);
}

void rig_known_learn(struct rig *rig)
{
	if (rig->known == NULL && !rig->context->reference_plugin &&
	    kubelet_registration_count(rig->kubelet) > rig->first_registration)
		rig_watch_news(rig);
}
