/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/json.h"
#include "reference-plugin/setting.h"

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
		setting_add_variable(setting, config->env_prefix, out);
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

void config_print(const struct config *config, struct text *out)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		CLEANUP_TEXT struct text value = {0};
		CLEANUP_TEXT struct text place = {0};

		setting_format(&settings[i], config, &value);
		add_place(config, &settings[i], &config->origins[i], &place);
		add_row(settings[i].key, &value, layer_names[config->origins[i].layer], &place,
			out);
	}
	for (size_t i = 0; i < config->additional_mounts.count; i++) {
		const struct additional_mount *mount = &config->additional_mounts.items[i];
		CLEANUP_TEXT struct text value = {0};
		CLEANUP_TEXT struct text place = {0};

		text_addf(&value, "%s: %s => %s", mount->vendor, mount->source, mount->destination);
		text_addf(&place, "%s:%zu", config->file, config->additional_mounts_origin.line);
		add_row("additionalMounts", &value, layer_names[CONFIG_FILE], &place, out);
	}
}

static bool add_string(cJSON *object, const char *key, const char *value)
{
	return cJSON_AddItemToObject(object, key, json_new_string(value, strlen(value)));
}

static cJSON *mounts_to_json(const struct additional_mounts *mounts)
{
	CLEANUP_JSON cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; array != NULL && i < mounts->count; i++) {
		cJSON *item = cJSON_CreateObject();

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

cJSON *config_to_json(const struct config *config)
{
	CLEANUP_JSON cJSON *object = cJSON_CreateObject();
	CLEANUP_TEXT struct text mounts_place = {0};
	enum config_layer mounts_layer = config->additional_mounts_origin.layer;

	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		CLEANUP_TEXT struct text place = {0};

		add_place(config, &settings[i], &config->origins[i], &place);
		if (!add_entry(object, settings[i].key, setting_to_json(&settings[i], config),
			       config->origins[i].layer, &place))
			return NULL;
	}
	if (mounts_layer == CONFIG_FILE)
		text_addf(&mounts_place, "%s:%zu", config->file,
			  config->additional_mounts_origin.line);
	if (!add_entry(object, "additionalMounts", mounts_to_json(&config->additional_mounts),
		       mounts_layer, &mounts_place))
		return NULL;
	return STEAL(object);
}
