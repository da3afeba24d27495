/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "conformance/checks/suites.h"
#include "conformance/cli/commands.h"
#include "reports/view.h"

#include <stdio.h>
#include <stdlib.h>

const char *const *command_arguments;

/* For completions. */
static const char *const expectations[] = {"amd-windows", "directx-device-plugins",
					   "nvidia-windows", "windows-gpus", NULL};

void command_print(const char *command, const char *what)
{
	struct text line CLEANUP_TEXT = {0};
	view_add_escaped(&line, what);
	(void)fprintf(stderr, "gpucert %s: %s\n", command, text_string(&line));
}

int command_failed(const char *command, int rc, const struct error *err)
{
	command_print(command, err->text);
	return rc == ERROR_ARGUMENT ? OPTIONS_EXIT_USAGE : COMMAND_EXIT_FAILED;
}

int command_end(const char *command, int rc, const struct error *err)
{
	return rc < 0 ? command_failed(command, rc, err) : EXIT_SUCCESS;
}

/* The commands of modules (cmake/GpucertModules.cmake), for the list below. */
#if GPUCERT_MODULE_PAGES
#define PAGES_COMMANDS command_compare, command_matrix,
#else
#define PAGES_COMMANDS
#endif
#if GPUCERT_MODULE_FLEET
#define FLEET_COMMANDS                                                                             \
	command_evidence, command_fleet_plan, command_fleet_begin, command_fleet_verdict,          \
		command_fleet_status, command_fleet_merge, command_fleet_patch,
#else
#define FLEET_COMMANDS
#endif
#if GPUCERT_MODULE_IMAGES
#define IMAGES_COMMANDS                                                                            \
	command_image_check, command_image_inspect, command_image_select, command_image_labels,    \
		command_image_cache,
#else
#define IMAGES_COMMANDS
#endif
#if GPUCERT_MODULE_CERTIFICATES
#define CERTIFICATES_COMMANDS                                                                      \
	command_attest, command_verify, command_key_generate, command_key_show,                    \
		command_certify_build, command_certify_check, command_bundle, command_publish,     \
		command_pull,
#else
#define CERTIFICATES_COMMANDS
#endif

int main(int argc, char **argv)
{
	/* Dereferenced here because the initialiser of a static array must be constant. */
	const struct command_spec commands[] = {
		command_run,
		command_doctor,
		command_list,
		command_show,
		command_report,
		PAGES_COMMANDS command_kubelet,
		command_image_build,
		IMAGES_COMMANDS command_expect_check,
		command_expect_explain,
		command_expect_update,
		CERTIFICATES_COMMANDS FLEET_COMMANDS{0},
	};
	memory_ends_process(REPORT_EXIT_BROKEN);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	for (size_t i = 0; suites[i] != NULL; i++) {
		for (const struct check *check = suites[i]->checks; check->id != NULL; check++)
			text_list_add(&ids, check->id);
	}
	const struct options_words words[] = {{"PATTERN", (const char *const *)ids.items},
					      {"CHECK", (const char *const *)ids.items},
					      {"FILE|NAME", expectations},
					      {0}};
	const struct command_spec program = {
		.name = "gpucert",
		.summary = "Certify that GPUs work in containers",
		.description = "Drives a Kubernetes device plugin through a fake kubelet, applies "
			       "its answers as a kubelet would, launches containers that make GPU "
			       "APIs do real work, and reports what holds.",
		.commands = commands,
		.words = words,
		.examples = TEXTS(
			"gpucert run", "Certify this machine with the reference plugin.",
			"gpucert run --plugin './my-plugin --dir {plugin-dir}' --resource example.com/gpu",
			"Certify a device plugin of your own.",
			"gpucert kubelet --plugin-dir /tmp/dp",
			"Play a kubelet that prints what your plugin does.",
			"gpucert show isolation.single-device",
			"Explain what a check means and what to do when it fails."),
		.exit_codes = run_exit_codes,
		.exit_output = REPORT_EXIT_BROKEN, /* 1 would mean that a check failed */
	};
	command_arguments = (const char *const *)argv + (argc > 0 ? 1 : 0);
	log_set_program("gpucert");
	return options_main(&program, argc, argv);
}
