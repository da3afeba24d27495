/* SPDX-License-Identifier: MIT */
/* device-plugin-gpu: the command line. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/options.h"
#include "reference-plugin/config.h"
#include "reference-plugin/plugin.h"
#include "reference-plugin/setting.h"

#include <stdio.h>

enum { EXIT_FAILED = 1 };

static const struct config_program program = {
	.env_prefix = "DEVICE_PLUGIN_GPU_",
	.default_file = "/etc/gpucert/device-plugin-gpu.yaml",
};

static struct config_options given;
static bool print_config;
static bool print_json;

static int print(const struct config *config)
{
	CLEANUP_TEXT struct text table = {0};
	CLEANUP_JSON cJSON *json = print_json ? config_to_json(config) : NULL;
	CLEANUP_FREE char *text = json != NULL ? json_print(json) : NULL;

	if (!print_json) {
		config_print(config, &table);
		text = text_take(&table);
	}
	if (text == NULL) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	(void)fputs(text, stdout);
	return EXIT_SUCCESS;
}

static int run(const struct text_list *arguments)
{
	CLEANUP(config_free) struct config config = {0};
	struct error err = {0};

	(void)arguments;
	log_set_program("device-plugin-gpu");
	if (config_load(&program, &given, &config, &err) < 0) {
		log_error("%s", err.text);
		return OPTIONS_EXIT_USAGE;
	}
	log_set_level((enum log_level)config.log_level);
	log_set_json(config.log_format == CONFIG_LOG_JSON);
	if (print_config)
		return print(&config);
	if (plugin_run("gpu", &config, &err) < 0) {
		log_error("%s", err.text);
		return EXIT_FAILED;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const char *const exit_codes[] = {
		"0",  "stopped by SIGTERM or SIGINT, or the configuration was printed",
		"1",  "failed: the sockets cannot be made, the recorded node cannot be read",
		"2",  "the command line, the environment or the configuration file makes no sense",
		NULL,
	};
	static const char *const examples[] = {
		"device-plugin-gpu",
		"Serve both resources to the kubelet of this machine.",
		"device-plugin-gpu --multitenancy 4 --preferred-allocation pack",
		"Let four containers share a device, and fill one before the next.",
		"device-plugin-gpu --node node.json --plugin-dir /tmp/plugins --log-level debug",
		"Offer the devices of a recorded node to a fake kubelet.",
		"device-plugin-gpu --print-config --json",
		"Show what would be used and where each value came from.",
		NULL,
	};
	struct option_spec options[CONFIG_SETTING_COUNT + 4] = {
		{.name = "config",
		 .letter = 'c',
		 .type = OPTION_STRING,
		 .target = &given.file,
		 .value = "FILE",
		 .help = "Read this YAML file instead of /etc/gpucert/device-plugin-gpu.yaml."},
		{.name = "print-config",
		 .target = &print_config,
		 .help = "Print the merged configuration with the origin of each value, and exit."},
		{.name = "json", .target = &print_json, .help = "With --print-config: print JSON."},
	};
	const struct command_spec command = {
		.name = "device-plugin-gpu",
		.summary = "Kubernetes device plugin for GPUs and their software stand-ins",
		.description =
			"Offers the GPUs of this machine to the kubelet, and the software "
			"implementations of GPU APIs that are installed on it. A container that is "
			"given a device gets its device nodes, or the files of its driver mounted "
			"read-only, so that an unmodified image can use it.\n\n"
			"Every option that has a value can also be given by an environment "
			"variable "
			"(--poll-interval is DEVICE_PLUGIN_GPU_POLL_INTERVAL) and by a key of the "
			"configuration file (pollInterval). An option goes before the environment, "
			"that before the file.",
		.options = options,
		.examples = examples,
		.exit_codes = exit_codes,
		.run = run,
	};
	int code = 0;

	setting_options(&given, &options[3]);
	code = options_main(&command, argc, argv);
	config_options_free(&given);
	return code;
}
