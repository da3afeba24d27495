/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/json.h"
#include "reference-plugin/configuration/setting.h"

#include <string.h>

static const char *const layer_names[] = {
	[CONFIG_DEFAULT] = "default",
	[CONFIG_FILE] = "file",
	[CONFIG_ENVIRONMENT] = "environment",
	[CONFIG_OPTION] = "option",
};

/* "/etc/plugin.yaml:3", "DEVICE_PLUGIN_GPU_NODE", "--node"; nothing for a default. */
static void add_place(const struct config *config, const struct setting *setting,
		      const struct config_origin *origin, struct text *out)
{
	switch (origin->layer) {
	case CONFIG_DEFAULT:
		break;
	case CONFIG_FILE:
		text_addf(out, "%s:%zu", config->file, origin->line);
		break;
	case CONFIG_ENVIRONMENT:
		setting_add_variable(setting, config->program->env_prefix, out);
		break;
	case CONFIG_OPTION:
		text_addf(out, "--%s", setting->option);
		break;
	}
}

static void add_row(const char *key, const struct text *value, const char *layer,
		    const struct text *place, struct text *out)
{
	text_addf(out, "%-20s  ", key);
	text_add_escaped(out, value->size > 0 ? value->data : "-",
			 value->size > 0 ? value->size : 1);
	text_addf(out, "  (%s%s", layer, place->size > 0 ? " " : "");
	text_add_escaped(out, text_string(place), place->size);
	text_add(out, ")\n");
}

static bool is_wow64(const struct additional_mount *mount)
{
	return mount->kind == ADDITIONAL_MOUNT_SYSWOW64;
}

static const char *mounts_key(bool wow64)
{
	return wow64 ? "additionalMountsWow64" : "additionalMounts";
}

static const struct config_origin *mounts_origin(const struct config *config, bool wow64)
{
	return wow64 ? &config->additional_mounts_wow64_origin : &config->additional_mounts_origin;
}

void config_print(const struct config *config, struct text *out)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		struct text value CLEANUP_TEXT = {0};
		struct text place CLEANUP_TEXT = {0};

		if (!setting_is_for(&settings[i], config->program))
			continue;
		setting_format(&settings[i], config, &value);
		add_place(config, &settings[i], &config->origins[i], &place);
		add_row(settings[i].key, &value, layer_names[config->origins[i].layer], &place,
			out);
	}
	for (size_t i = 0; i < config->additional_mounts.count; i++) {
		const struct additional_mount *mount = &config->additional_mounts.items[i];
		struct text value CLEANUP_TEXT = {0};
		struct text place CLEANUP_TEXT = {0};

		text_addf(&value, "%s: %s => %s", mount->vendor, mount->source, mount->destination);
		text_addf(&place, "%s:%zu", config->file,
			  mounts_origin(config, is_wow64(mount))->line);
		add_row(mounts_key(is_wow64(mount)), &value, layer_names[CONFIG_FILE], &place, out);
	}
}

static bool add_string(cJSON *object, const char *key, const char *value)
{
	return cJSON_AddItemToObject(object, key, json_new_string(value, strlen(value)));
}

static cJSON *mounts_to_json(const struct additional_mounts *mounts, bool wow64)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();

	for (size_t i = 0; array != NULL && i < mounts->count; i++) {
		cJSON *item = NULL;

		if (is_wow64(&mounts->items[i]) != wow64)
			continue;
		item = cJSON_CreateObject();
		if (!cJSON_AddItemToArray(array, item) ||
		    !add_string(item, "vendor", mounts->items[i].vendor) ||
		    !add_string(item, "source", mounts->items[i].source) ||
		    !add_string(item, "destination", mounts->items[i].destination))
			return NULL;
	}
	return STEAL(array);
}

static bool add_entry(cJSON *object, const char *key, cJSON *value, enum config_layer layer,
		      const struct text *place)
{
	cJSON *entry = cJSON_AddObjectToObject(object, key);

	if (entry == NULL || value == NULL) {
		cJSON_Delete(value);
		return false;
	}
	return cJSON_AddItemToObject(entry, "value", value) &&
	       add_string(entry, "origin", layer_names[layer]) &&
	       add_string(entry, "place", text_string(place));
}

static bool add_mounts(const struct config *config, bool wow64, cJSON *object)
{
	const struct config_origin *origin = mounts_origin(config, wow64);
	struct text place CLEANUP_TEXT = {0};

	if (origin->layer == CONFIG_FILE)
		text_addf(&place, "%s:%zu", config->file, origin->line);
	return add_entry(object, mounts_key(wow64),
			 mounts_to_json(&config->additional_mounts, wow64), origin->layer, &place);
}

cJSON *config_to_json(const struct config *config)
{
	cJSON *object CLEANUP_JSON = cJSON_CreateObject();

	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		struct text place CLEANUP_TEXT = {0};

		if (!setting_is_for(&settings[i], config->program))
			continue;
		add_place(config, &settings[i], &config->origins[i], &place);
		if (!add_entry(object, settings[i].key, setting_to_json(&settings[i], config),
			       config->origins[i].layer, &place))
			return NULL;
	}
	if (!add_mounts(config, false, object) ||
	    (config->program->directx && !add_mounts(config, true, object)))
		return NULL;
	return STEAL(object);
}
