/* SPDX-License-Identifier: MIT */
/* Any bytes as a configuration file: a configuration that prints, or an error that names the place.
 */
#include "base/cleanup.h"
#include "base/text.h"
#include "reference-plugin/configuration/settings.h"
#include "reference-plugin/programs.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct config *config)
{
	struct text table CLEANUP_TEXT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	config->file = strdup("fuzz.yaml");
	if (config->file == NULL)
		return;
	json = config_to_json(config);
	config_print(config, &table);
	if (json == NULL || table.size == 0)
		abort();
}

static void parse(const struct config_program *program, const uint8_t *data, size_t size)
{
	struct config config CLEANUP(config_free) = {.program = program};
	char *copy CLEANUP_FREE = malloc(size + 1);
	struct error err = {0};
	if (copy == NULL)
		return;
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		if (setting_set(&settings[i], setting_initial(&settings[i], program), &config,
				NULL) != 0)
			abort();
	}
	memcpy(copy, data, size);
	if (config_parse_yaml("fuzz.yaml", copy, size, &config, &err) == 0)
		use(&config);
	else if (strncmp(err.text, "fuzz.yaml:", strlen("fuzz.yaml:")) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(&program_gpu, data, size);
	parse(&program_wddm, data, size);
	return 0;
}
