/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/setting.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

static void *member(const struct setting *setting, struct config *config)
{
	return (char *)config + setting->offset;
}

static const void *const_member(const struct setting *setting, const struct config *config)
{
	return (const char *)config + setting->offset;
}

static int parse_choice(const struct setting *setting, const char *value, int *out,
			struct error *err)
{
	struct text names CLEANUP_TEXT = {0};

	for (int i = 0; setting->choices[i] != NULL; i++) {
		if (strcmp(setting->choices[i], value) == 0) {
			*out = i;
			return 0;
		}
		text_addf(&names, "%s%s", i == 0 ? "" : ", ", setting->choices[i]);
	}
	return error_set(err, ERROR_FORMAT, "'%s' is not one of %s", value, text_string(&names));
}

static int parse_count(const struct setting *setting, const char *value, uint32_t *out,
		       struct error *err)
{
	long long number = 0;
	int rc = text_to_int64(value, "", (long long)setting->min, (long long)setting->max, &number,
			       NULL);

	if (rc < 0)
		return error_set(err, rc, "'%s' is not a whole number from %llu to %llu", value,
				 (unsigned long long)setting->min,
				 (unsigned long long)setting->max);
	*out = (uint32_t)number;
	return 0;
}

static int parse_bool(const char *value, bool *out, struct error *err)
{
	if (text_to_bool(value, "", out, NULL) == 0)
		return 0;
	return error_set(err, ERROR_FORMAT, "'%s' is neither true nor false", value);
}

static uint64_t unit_ms(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].name, unit) == 0)
			return units[i].ms;
	}
	return 0;
}

static int parse_duration(const struct setting *setting, const char *value, uint64_t *out,
			  struct error *err)
{
	enum { DIGITS_MAX = 12 };
	size_t digits = strspn(value, "0123456789");
	uint64_t unit = unit_ms(value + digits);
	uint64_t number = 0;

	if (digits == 0 || digits > DIGITS_MAX || unit == 0)
		return error_set(err, ERROR_FORMAT,
				 "'%s' is not a duration such as 500ms, 10s, 5m or 1h", value);
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (uint64_t)(value[i] - '0');
	number *= unit;
	if (number < setting->min || number > setting->max)
		return error_set(err, ERROR_LIMIT, "'%s' is not between %llu ms and %llu s", value,
				 (unsigned long long)setting->min,
				 (unsigned long long)setting->max / 1000);
	*out = number;
	return 0;
}

static int set_text(char **target, const char *value, struct error *err)
{
	char *copy = strdup(value);

	if (copy == NULL)
		return error_memory(err);
	free(*target);
	*target = copy;
	return 0;
}

int setting_set_list(const struct setting *setting, const struct text_list *values,
		     struct config *config, struct error *err)
{
	struct text_list *list = member(setting, config);

	text_list_free(list);
	*list = (struct text_list){0};
	for (size_t i = 0; i < values->count; i++) {
		int rc = text_list_add(list, values->items[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int set_separated(const struct setting *setting, const char *value, struct config *config,
			 struct error *err)
{
	struct text_list values CLEANUP_TEXT_LIST = {0};
	int rc = value[0] == '\0' ? 0 : text_list_split(&values, value, ',', err);

	return rc < 0 ? rc : setting_set_list(setting, &values, config, err);
}

int setting_set(const struct setting *setting, const char *value, struct config *config,
		struct error *err)
{
	void *target = member(setting, config);

	switch (setting->type) {
	case SETTING_BOOL:
		return parse_bool(value, target, err);
	case SETTING_COUNT:
		return parse_count(setting, value, target, err);
	case SETTING_DURATION:
		return parse_duration(setting, value, target, err);
	case SETTING_TEXT:
		return set_text(target, value, err);
	case SETTING_LIST:
		return set_separated(setting, value, config, err);
	case SETTING_CHOICE:
		return parse_choice(setting, value, target, err);
	}
	return error_set(err, ERROR_ARGUMENT, "%s has no type", setting->key);
}

static void format_duration(uint64_t ms, struct text *out)
{
	if (ms % 1000 != 0)
		text_addf(out, "%llums", (unsigned long long)ms);
	else
		text_addf(out, "%llus", (unsigned long long)ms / 1000);
}

void setting_format(const struct setting *setting, const struct config *config, struct text *out)
{
	const void *value = const_member(setting, config);
	const struct text_list *list = value;

	switch (setting->type) {
	case SETTING_BOOL:
		text_add(out, *(const bool *)value ? "true" : "false");
		break;
	case SETTING_COUNT:
		text_addf(out, "%u", *(const uint32_t *)value);
		break;
	case SETTING_DURATION:
		format_duration(*(const uint64_t *)value, out);
		break;
	case SETTING_TEXT:
		text_add(out, *(const char *const *)value);
		break;
	case SETTING_LIST:
		for (size_t i = 0; i < list->count; i++)
			text_addf(out, "%s%s", i == 0 ? "" : ",", list->items[i]);
		break;
	case SETTING_CHOICE:
		text_add(out, setting->choices[*(const int *)value]);
		break;
	}
}

static cJSON *list_to_json(const struct text_list *list)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();

	for (size_t i = 0; array != NULL && i < list->count; i++) {
		if (!cJSON_AddItemToArray(array, cJSON_CreateString(list->items[i])))
			return NULL;
	}
	return STEAL(array);
}

cJSON *setting_to_json(const struct setting *setting, const struct config *config)
{
	const void *value = const_member(setting, config);

	switch (setting->type) {
	case SETTING_BOOL:
		return cJSON_CreateBool(*(const bool *)value);
	case SETTING_COUNT:
		return cJSON_CreateNumber(*(const uint32_t *)value);
	case SETTING_DURATION:
		return cJSON_CreateNumber((double)*(const uint64_t *)value / 1000.0);
	case SETTING_TEXT:
		return cJSON_CreateString(*(const char *const *)value);
	case SETTING_LIST:
		return list_to_json(value);
	case SETTING_CHOICE:
		return cJSON_CreateString(setting->choices[*(const int *)value]);
	}
	return NULL;
}

void setting_add_variable(const struct setting *setting, const char *prefix, struct text *out)
{
	text_add(out, prefix);
	for (const char *at = setting->option; *at != '\0'; at++)
		text_addf(out, "%c", *at == '-' ? '_' : toupper((unsigned char)*at));
}
