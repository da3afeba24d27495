/* SPDX-License-Identifier: MIT */
#include "base/members.h"
#include "reference-plugin/configuration/settings.h"

#include <string.h>

static const char *const layer_names[] = {
	[CONFIG_DEFAULT] = "default",
	[CONFIG_FILE] = "file",
	[CONFIG_ENVIRONMENT] = "environment",
	[CONFIG_OPTION] = "option",
};

/* "/etc/plugin.yaml:3", "DEVICE_PLUGIN_GPU_NODE", "--node"; nothing for a default. */
static void add_place(const struct config *config, size_t index, struct text *out)
{
	switch (config->origins[index].layer) {
	case CONFIG_DEFAULT:
		break;
	case CONFIG_FILE:
		text_addf(out, "%s:%zu", config->file, config->origins[index].line);
		break;
	case CONFIG_ENVIRONMENT:
		setting_add_variable(&settings[index], config->program->env_prefix, out);
		break;
	case CONFIG_OPTION:
		text_addf(out, "--%s", settings[index].option);
		break;
	}
}

static void add_row(const struct config *config, size_t index, const struct text *value,
		    struct text *out)
{
	const char *shown = value->size > 0 ? value->data : "-";
	struct text place CLEANUP_TEXT = {0};
	add_place(config, index, &place);
	text_addf(out, "%-20s  ", settings[index].key);
	text_add_escaped(out, shown, strlen(shown));
	text_addf(out, "  (%s%s", layer_names[config->origins[index].layer],
		  place.size > 0 ? " " : "");
	text_add_escaped(out, text_string(&place), place.size);
	text_add(out, ")\n");
}

void config_print(const struct config *config, struct text *out)
{
	for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
		const struct additional_mounts *mounts = &config->additional_mounts;
		struct text value CLEANUP_TEXT = {0};
		if (!setting_is_for(&settings[i], config->program))
			continue;
		setting_format(&settings[i], config, &value);
		if (settings[i].type != SETTING_MOUNTS)
			add_row(config, i, &value, out);
		for (size_t k = 0; settings[i].type == SETTING_MOUNTS && k < mounts->count; k++) {
			const struct additional_mount *mount = &mounts->items[k];
			struct text row CLEANUP_TEXT = {0};
			text_addf(&row, "%s: %s => %s", mount->vendor, mount->source,
				  mount->destination);
			if (mount->kind == settings[i].mounts)
				add_row(config, i, &row, out);
		}
	}
}

/* Boolean, number (durations in seconds), string or array. */
static cJSON *value_to_json(const struct setting *setting, const struct config *config)
{
	const void *value = (const char *)config + setting->offset;
	const struct additional_mounts *mounts = &config->additional_mounts;
	struct members array CLEANUP_MEMBERS = members_new_array();
	struct text text CLEANUP_TEXT = {0};
	if (setting->type == SETTING_LIST)
		return json_new_strings(value);
	if (setting->type == SETTING_DURATION)
		return cJSON_CreateNumber((double)*(const uint64_t *)value / 1000.0);
	if (setting->type != SETTING_MOUNTS) {
		setting_format(setting, config, &text);
		return setting->type == SETTING_BOOL || setting->type == SETTING_COUNT
			       ? cJSON_Parse(text_string(&text))
			       : json_new_string(text_string(&text), text.size);
	}
	for (size_t i = 0; i < mounts->count; i++) {
		const struct additional_mount *mount = &mounts->items[i];
		struct members json CLEANUP_MEMBERS = members_new();
		if (mount->kind != setting->mounts)
			continue;
		member_string(&json, "vendor", mount->vendor);
		member_string(&json, "source", mount->source);
		member_string(&json, "destination", mount->destination);
		member_item(&array, NULL, members_take(&json));
	}
	return members_take(&array);
}

cJSON *config_to_json(const struct config *config)
{
	struct members object CLEANUP_MEMBERS = members_new();
	for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
		struct members entry CLEANUP_MEMBERS = members_new();
		struct text place = {0};
		if (!setting_is_for(&settings[i], config->program))
			continue;
		add_place(config, i, &place);
		member_item(&entry, "value", value_to_json(&settings[i], config));
		member_string(&entry, "origin", layer_names[config->origins[i].layer]);
		member_taken(&entry, "place", text_take(&place));
		member_item(&object, settings[i].key, members_take(&entry));
	}
	return members_take(&object);
}
