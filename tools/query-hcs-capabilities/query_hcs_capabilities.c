/* SPDX-License-Identifier: MIT */
/* query-hcs-capabilities: the devices and images that a Windows host accepts for containers. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/os_version.h"
#include "tools/query-hcs-capabilities/capabilities.h"

#include <gpucert/discovery.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_NOT_THERE = 1, EXIT_NO_SERVICE = 3 };

static struct {
	bool json;
	const char *build, *node, *image_build, *require;
} given;

static const char *const requirements[] = {"class", "location-path", NULL};

static const struct option_spec options[] = {
	{OPTION_ROW("json", OPTION_FLAG, given.json), .help = "Print JSON (hcs.schema.json)."},
	{OPTION_ROW("build", OPTION_STRING, given.build), .letter = 'b', .value = "VERSION",
	 .help = "Answer for a host of this build of Windows from the table: 20348, 20348.2582 or "
		 "10.0.20348.2582."},
	{OPTION_ROW("node", OPTION_STRING, given.node), .letter = 'n', .value = "FILE",
	 .help = "Answer for a recorded node from the table."},
	{OPTION_ROW("image-build", OPTION_STRING, given.image_build), .letter = 'i',
	 .value = "VERSION",
	 .help = "Also report whether an image of this build runs on the host."},
	{OPTION_ROW("require", OPTION_CHOICE, given.require), .choices = requirements,
	 .help = "Exit with 1 when devices cannot be given that way, or when that is unknown."},
	{.name = NULL},
};

/* A host, and the owners of its strings. */
struct host {
	struct capabilities capabilities;
	struct os_version system;
	struct discovery_snapshot *snapshot;
	struct error problem;
};

static int host_open(struct host *host, struct error *err)
{
	struct capabilities *capabilities = &host->capabilities;
	int rc = 0;

	*capabilities = (struct capabilities){
		.os = "windows",
		.product = host->system.product,
		.display_version = host->system.display_version,
		.kernel = host->system.kernel,
		.wine = host->system.wine,
		.problem = host->problem.text,
		.image_given = given.image_build != NULL,
	};
	if (given.build != NULL && given.node != NULL)
		return error_set(err, ERROR_ARGUMENT, "--build and --node name two hosts");
	if (capabilities->image_given)
		rc = windows_version_parse(given.image_build, "--image-build", &capabilities->image,
					   err);
	if (rc < 0)
		return rc;
	if (given.build != NULL)
		return windows_version_parse(given.build, "--build", &capabilities->version, err);

	if (given.node != NULL) {
		const struct discovery_options wanted = {.recorded_node = given.node};
		rc = discovery_take(&wanted, &host->snapshot, err);
		if (rc < 0)
			return rc;
		const struct discovery_system *system = &host->snapshot->system;
		if (strcmp(system->os, "windows") != 0)
			return error_set(err, ERROR_ARGUMENT,
					 "%s is not a Windows node but one of '%s'", given.node,
					 system->os);
		if (text_starts_with(system->emulator, "Wine "))
			capabilities->wine = system->emulator + strlen("Wine ");
		capabilities->product = system->product;
		return windows_version_parse(system->build, given.node, &capabilities->version,
					     err);
	}

	rc = os_version_read(&host->system, err);
	if (rc < 0)
		return rc;
#ifdef _WIN32
	capabilities->version =
		(struct windows_version){host->system.major, host->system.minor, host->system.build,
					 true, host->system.revision};
#else
	capabilities->os = "linux";
#endif
	capabilities->asked = hcs_service_ask(&capabilities->service, &host->problem) == 0;
	return 0;
}

/* Exit code of an answer that was printed. */
static int judge(const struct capabilities *capabilities)
{
	enum hcs_device device = given.require != NULL && strcmp(given.require, "class") == 0
					 ? HCS_DEVICE_CLASS
					 : HCS_DEVICE_LOCATION_PATH;
	if (capabilities->problem[0] != '\0') {
		log_error("%s", capabilities->problem);
		return EXIT_NO_SERVICE;
	}
	if (given.require != NULL && capabilities_allow(capabilities, device) != CAPABILITIES_YES)
		return EXIT_NOT_THERE;
	if (capabilities->image_given &&
	    windows_image_judge(capabilities->version, capabilities->image).answer ==
		    WINDOWS_IMAGE_REFUSED)
		return EXIT_NOT_THERE;
	return EXIT_SUCCESS;
}

static int run(const struct text_list *arguments)
{
	struct host host = {0};
	struct error err = {0};
	int code = EXIT_NO_SERVICE;

	(void)arguments;
	log_set_program("query-hcs-capabilities");
	int rc = host_open(&host, &err);
	if (rc == 0) {
		struct text text CLEANUP_TEXT = {0};
		cJSON *json CLEANUP_JSON = capabilities_to_json(&host.capabilities);
		capabilities_print(&host.capabilities, &text);
		rc = options_print(given.json ? json_print(json) : text_take(&text), &err);
	}
	if (rc == 0)
		code = judge(&host.capabilities);
	else
		log_error("%s", err.text);
	if (rc == ERROR_ARGUMENT || rc == ERROR_FORMAT || rc == ERROR_LIMIT)
		code = OPTIONS_EXIT_USAGE;
	discovery_free(host.snapshot);
	return code;
}

static const char description[] =
	"Asks the Host Compute Service of this machine which versions of its schema it supports, "
	"and says what they allow: devices by class GUID need 2.1, devices by location path, which "
	"is what device plugins use, 2.2. For another host (--build, --node) a table of builds "
	"answers, if anything is published; where this machine's service cannot be asked, "
	"it is shown as well.";

static const char *const examples[] = {
	"query-hcs-capabilities",
	"Show what this Windows host supports.",
	"query-hcs-capabilities --require location-path",
	"Check in a script that single devices can be given to containers.",
	"query-hcs-capabilities --build 26100 --image-build 20348",
	"Ask whether an image of Windows Server 2022 runs on Windows Server 2025.",
	"query-hcs-capabilities --node node.json --json",
	"Answer for a recorded node, as JSON.",
	NULL,
};

static const char *const exit_codes[] = {
	"0",  "done",
	"1",  "devices cannot be given as --require asks, or the image does not run",
	"2",  "wrong usage, or a node that is not a Windows node",
	"3",  "no Host Compute Service answers on this machine, or the node cannot be read",
	NULL,
};

int main(int argc, char **argv)
{
	const struct command_spec program = {
		.name = "query-hcs-capabilities",
		.summary = "Shows which devices and images a Windows host accepts for containers",
		.description = description,
		.options = options,
		.examples = examples,
		.exit_codes = exit_codes,
		.exit_output = EXIT_NO_SERVICE,
		.run = run,
	};
	memory_ends_process(EXIT_NO_SERVICE);
	return options_main(&program, argc, argv);
}
