/* SPDX-License-Identifier: MIT */
#include "reference-plugin/programs.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#ifdef _WIN32
#include "base/windows_service.h"
#endif
#include "reference-plugin/configuration/settings.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

enum { EXIT_FAILED = 1, OWN_OPTIONS_MAX = 4 };

#define EXAMPLE_SHARED(program) program " --multitenancy 4", "Let four containers share a device."
#define EXAMPLE_RECORDED(program, node)                                                            \
	program " --node node.json --plugin-dir /tmp/plugins --log-level debug",                   \
		"Offer the devices of a recorded " node " to a fake kubelet."
#define EXAMPLE_PRINTED(program)                                                                   \
	program " --print-config --json", "Show what would be used and where each value came from."

static const char *const gpu_examples[] = {
	"device-plugin-gpu",
	"Serve both resources to the kubelet of this machine.",
	"device-plugin-gpu --multitenancy 4 --preferred-allocation pack",
	"Let four containers share a device, and fill one before the next.",
	EXAMPLE_RECORDED("device-plugin-gpu", "node"),
	EXAMPLE_PRINTED("device-plugin-gpu"),
	NULL,
};

static const char *const wddm_examples[] = {
	EXAMPLE_SHARED("device-plugin-wddm"),
	"device-plugin-wddm --include-integrated true --skip-runtime-mounts true",
	"Offer integrated GPUs too, and give devices without the files of their drivers.",
	EXAMPLE_RECORDED("device-plugin-wddm", "Windows node"),
	EXAMPLE_PRINTED("device-plugin-wddm"),
	NULL,
};

static const char *const mcdm_examples[] = {
	EXAMPLE_SHARED("device-plugin-mcdm"),
	EXAMPLE_RECORDED("device-plugin-mcdm", "Windows node"),
	EXAMPLE_PRINTED("device-plugin-mcdm"),
	NULL,
};

const struct config_program program_gpu = {
	.name = "device-plugin-gpu",
	.short_name = "gpu",
	.env_prefix = "DEVICE_PLUGIN_GPU_",
	.default_file = "/etc/gpucert/device-plugin-gpu.yaml",
	.display_name = "gpucert.internal/display",
	.compute_name = "gpucert.internal/compute",
	.summary = "Kubernetes device plugin for GPUs and their software stand-ins",
	.description =
		"Offers the GPUs of this machine to the kubelet, and the software implementations "
		"of GPU APIs that are installed on it. A container with a device gets its "
		"device nodes, or the files of its driver mounted read-only, so that an unmodified "
		"image can use it.",
	.examples = gpu_examples,
};

#define WINDOWS_CONTAINER                                                                          \
	" A container gets one by its location path, with the files of its driver "                \
	"mounted read-only into System32 and SysWOW64."

const struct config_program program_wddm = {
	.name = "device-plugin-wddm",
	.short_name = "wddm",
	.env_prefix = "WDDM_DEVICE_PLUGIN_",
	.directx = true,
	.resource = CONFIG_RESOURCE_DISPLAY,
	.display_name = "directx.microsoft.com/display",
	.summary = "Kubernetes device plugin for the display adapters of Windows nodes",
	.description =
		"Offers the display adapters of a Windows node that render and compute (WDDM) to "
		"the kubelet as directx.microsoft.com/display." WINDOWS_CONTAINER,
	.examples = wddm_examples,
};

const struct config_program program_mcdm = {
	.name = "device-plugin-mcdm",
	.short_name = "mcdm",
	.env_prefix = "MCDM_DEVICE_PLUGIN_",
	.directx = true,
	.resource = CONFIG_RESOURCE_COMPUTE,
	.compute_name = "directx.microsoft.com/compute",
	.summary = "Kubernetes device plugin for the compute accelerators of Windows nodes",
	.description = "Offers the adapters of a Windows node that only compute (MCDM) to the "
		       "kubelet as directx.microsoft.com/compute." WINDOWS_CONTAINER,
	.examples = mcdm_examples,
};

static struct {
	const struct config_program *program;
	struct config_options options;
	bool print_config;
	bool print_json;
	bool service; /* cppcheck-suppress unusedStructMember ; read on Windows */
} given;

static int run_plugin(void *user)
{
	struct config config CLEANUP(config_free) = {0};
	struct error err = {0};
	int rc = config_load(given.program, &given.options, &config, &err);
	(void)user;
	if (rc < 0) {
		log_error("%s", err.text);
		return OPTIONS_EXIT_USAGE;
	}
	log_set_level((enum log_level)config.log_level);
	log_set_json(config.log_format == CONFIG_LOG_JSON);
	if (given.print_config) {
		struct text table CLEANUP_TEXT = {0};
		cJSON *json CLEANUP_JSON = config_to_json(&config);
		config_print(&config, &table);
		rc = options_print(given.print_json ? json_print(json) : text_take(&table), &err);
	} else {
		/* A service has no console that would show standard error. */
		if (config.log_file[0] != '\0') {
			uv_fs_t request;
			int file CLEANUP_FD = uv_fs_open(
				NULL, &request, config.log_file,
				UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_APPEND, 0644, NULL);
			if (file < 0)
				rc = error_uv(&err, STEAL_FD(file), "%s", config.log_file);
			else if (dup2(file, STDERR_FILENO) < 0)
				rc = error_system(&err, errno, "%s", config.log_file);
		}
		if (rc == 0)
			rc = plugin_run(&config, &err);
	}
	if (rc == 0)
		return EXIT_SUCCESS;
	log_error("%s", err.text);
	return EXIT_FAILED;
}

static int run(const struct text_list *arguments)
{
	(void)arguments;
	log_set_program(given.program->name);
#ifdef _WIN32
	if (given.service) {
		struct error err = {0};
		int code = 0;
		if (windows_service_run(run_plugin, NULL, &code, &err) == 0)
			return code;
		log_error("%s", err.text);
		return OPTIONS_EXIT_USAGE;
	}
#endif
	return run_plugin(NULL);
}

int program_main(const struct config_program *program, int argc, char **argv)
{
	static const char *const exit_codes[] = {
		"0",  "stopped on request, or the configuration was printed",
		"1",  "failed: the sockets cannot be made, the recorded node cannot be read",
		"2",  "the command line, the environment or the configuration file makes no sense",
		NULL,
	};
	struct text description CLEANUP_TEXT = {0};
	text_addf(&description, "%s\n\n", program->description);
	text_addf(&description,
		  "Every option that has a value can also be set by an environment variable "
		  "(--poll-interval is %sPOLL_INTERVAL) and by a key of the configuration file "
		  "(pollInterval). An option goes before the environment, that before the file.",
		  program->env_prefix);
	if (program->directx)
		text_addf(
			&description,
			" The file is the one of --config, else of %sCONFIG_FILE, else %s.yaml (or "
			"another extension) in the working directory or in "
			"/etc/directx-device-plugins.",
			program->env_prefix, program->short_name);
	char *config_help CLEANUP_FREE =
		program->default_file != NULL
			? text_format("Read this YAML file instead of %s.", program->default_file)
			: text_format("Read this YAML file instead of looking for %s.yaml.",
				      program->short_name);
	struct option_spec options[OWN_OPTIONS_MAX + CONFIG_SETTING_COUNT + 1] = {
		{OPTION_ROW("config", OPTION_STRING, given.options.file), .letter = 'c',
		 .value = "FILE", .help = config_help},
		{OPTION_ROW("print-config", OPTION_FLAG, given.print_config),
		 .help = "Print the merged configuration with the origin of each value, and exit."},
		{OPTION_ROW("json", OPTION_FLAG, given.print_json),
		 .help = "With --print-config: print JSON."},
#ifdef _WIN32
		{OPTION_ROW("service", OPTION_FLAG, given.service),
		 .help = "Run as a Windows service; the service control manager gives this option, "
			 "and --log-file names the file of the log."},
#endif
	};
	const struct command_spec command = {
		.name = program->name,
		.summary = program->summary,
		.description = text_string(&description),
		.options = options,
		.examples = program->examples,
		.exit_codes = exit_codes,
		.run = run,
	};
	size_t own = 0;
	given.program = program;
	while (options[own].name != NULL)
		own++;
	setting_options(program, &given.options, &options[own]);
	int code = options_main(&command, argc, argv);
	config_options_free(&given.options);
	return code;
}
