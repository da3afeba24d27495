/* SPDX-License-Identifier: MIT */
/* `image check`: will this image work on that host? */
#include "base/log.h"
#include "base/members.h"
#include "base/style.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/image_argument.h"
#include "containers/judging/compat/rules.h"
#include "containers/offers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_CANNOT_WORK = 1, EXIT_HYPERV = 4, EXIT_UNKNOWN = 5 };

static struct {
	const char *host, *platform, *isolation, *runtime, *api, *device;
	bool json, list_rules, show_host, no_layers;
} given = {.host = "local", .isolation = "process", .runtime = "any", .api = "any"};

/* The question and its answer. */
struct check {
	struct host_facts host;
	struct image_argument argument;
	struct image_contents contents;
	bool contents_read;
	struct compat_options options;
	struct compat_answer answer;
};

static void check_free(struct check *check)
{
	host_facts_free(&check->host);
	image_argument_free(&check->argument);
	image_contents_free(&check->contents);
	compat_answer_free(&check->answer);
}

/* Loads the image, or the host's entry of an index (with --platform, that platform's). An image for a
 * single platform is always loaded, so that the rules can say what is wrong with it. Without a name,
 * only the platform of the image is known. */
static int load_image(const char *name, struct check *check, struct error *err)
{
	struct image *image = &check->argument.image;
	const struct image_index *index = NULL;
	if (name == NULL) {
		image->reference = "";
		image->digest = "";
		image->artifact_type = "";
		return image_platform_parse(given.platform, &image->arena, &image->platform, err);
	}

	int rc = image_argument_open(name, given.platform, &check->argument, err);
	if (rc == 0 && given.platform == NULL)
		rc = image_source_index(check->argument.source, &index, err);
	if (rc < 0 || index == NULL)
		return rc;
	const struct image_index_entry *entry =
		index->count == 1
			? &index->entries[0]
			: compat_select(index, &check->host, &check->options, &check->answer);
	if (entry == NULL)
		return 0;
	return image_source_load_entry(check->argument.source, entry, image, err);
}

static int make_answer(const char *name, struct check *check, struct error *err)
{
	struct image_argument *argument = &check->argument;
	check->options = (struct compat_options){
		.runtime = (enum compat_runtime)text_position(compat_runtime_names, given.runtime),
		.isolation = (enum compat_isolation)text_position(compat_isolation_names,
								  given.isolation),
		.api = (enum compat_api)text_position(compat_api_names, given.api),
		.device = given.device,
	};
	int rc = host_facts_named(given.host, &check->host, err);
	if (rc < 0 || given.show_host)
		return rc;
	rc = load_image(name, check, err);
	if (rc < 0 || check->answer.count > 0)
		return rc; /* no entry fits: that is the answer */
	if (argument->image.artifact_type[0] != '\0')
		return error_set(err, ERROR_UNSUPPORTED, "%s is an artifact (%s) and not an image",
				 name, argument->image.artifact_type);

	if (argument->source != NULL && OFFERS_CONTENTS && !given.no_layers) {
		check->contents_read = true;
		rc = image_contents_read_shown(argument->source, &argument->image, &check->contents,
					       err);
		if (rc < 0)
			return rc;
	}
	compat_check(&argument->image, check->contents_read ? &check->contents : NULL, &check->host,
		     &check->options, &check->answer);
	return 0;
}

static int print(const struct check *check, const char *name, struct error *err)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct arena arena CLEANUP(arena_free) = {0};
	struct text text CLEANUP_TEXT = {0};
	const struct image *image = &check->argument.image;
	bool known = image->platform.os != NULL;
	if (given.show_host) {
		cJSON *host CLEANUP_JSON = host_facts_to_json(&check->host);
		return options_print(json_print(host), err);
	}
	if (!given.json) {
		compat_answer_print(&check->answer, style_enabled(STDOUT_FILENO), &text);
		return options_print(text_take(&text), err);
	}

	member_string(&json, "schema", "gpucert-image-check/1");
	member_string(&json, "image", name);
	member_optional(&json, "digest", image->digest);
	member_string(&json, "platform",
		      known ? image_platform_name(&image->platform, &arena) : NULL);
	member_item(&json, "host", host_facts_to_json(&check->host));
	member_item(&json, "answer", compat_answer_to_json(&check->answer));
	return options_print(json_print(json.object), err);
}

static int list_rules(struct error *err)
{
	size_t count = 0;
	const struct compat_rule *rules = compat_rules(&count);
	struct members array CLEANUP_MEMBERS = members_new_array();
	struct text text CLEANUP_TEXT = {0};
	for (size_t i = 0; i <= count; i++) {
		const struct compat_rule *rule = i < count ? &rules[i] : &compat_no_match;
		struct members json = member_object(&array, NULL);
		text_addf(&text, "%-26s %s\n%-26s Source: %s\n", rule->id, rule->says, "",
			  rule->source);
		member_string(&json, "id", rule->id);
		member_string(&json, "says", rule->says);
		member_string(&json, "source", rule->source);
	}
	return options_print(given.json ? json_print(array.object) : text_take(&text), err);
}

static int check_run(const struct text_list *arguments)
{
	static const int codes[] = {[COMPAT_WORKS] = EXIT_SUCCESS,
				    [COMPAT_UNKNOWN] = EXIT_UNKNOWN,
				    [COMPAT_HYPERV] = EXIT_HYPERV,
				    [COMPAT_CANNOT_WORK] = EXIT_CANNOT_WORK};
	struct check check CLEANUP(check_free) = {0};
	struct error err = {0};
	const char *name = arguments->count > 0 ? arguments->items[0] : NULL;
	int rc = 0;
	if (given.list_rules) {
		rc = list_rules(&err);
		return command_end("image check", rc, &err);
	}
	if (name == NULL && given.platform == NULL && !given.show_host)
		rc = error_set(&err, ERROR_ARGUMENT,
			       "name an image, or its platform with --platform");
	if (rc == 0)
		rc = make_answer(name, &check, &err);
	if (rc == 0)
		rc = print(&check, name, &err);
	if (rc < 0)
		return command_failed("image check", rc, &err);
	return given.show_host ? EXIT_SUCCESS : codes[compat_answer_verdict(&check.answer)];
}

static const struct option_spec check_options[] = {
	IMAGE_HOST_OPTION,
	{OPTION_ROW("platform", OPTION_STRING, given.platform), .value = "PLATFORM",
	 .help = "Which platform's image of an index to check; without IMAGE, the platform of the "
		 "image: windows/amd64:10.0.20348.2582, linux/amd64/v3."},
	{OPTION_ROW("isolation", OPTION_CHOICE, given.isolation), .value = "MODE",
	 .help = "How the Windows container is isolated.", .choices = compat_isolation_names},
	IMAGE_RUNTIME_OPTION,
	{OPTION_ROW("device-string", OPTION_STRING, given.device), .value = "STRING",
	 .help = "How a device plugin names the device of a Windows container: "
		 "vpci-location-path://PCIROOT(0)#PCI(0300), class/GUID."},
	{OPTION_ROW("api", OPTION_CHOICE, given.api), .value = "API",
	 .help = "What a Windows container uses the GPU for. Default: CUDA if the image names a "
		 "version of it, else DirectX.",
	 .choices = compat_api_names},
	{OPTION_ROW("no-layers", OPTION_FLAG, given.no_layers),
	 .help = "Do not read the layers: rules about libraries in them are skipped."},
	IMAGE_SOURCE_OPTIONS,
	{OPTION_ROW("json", OPTION_FLAG, given.json),
	 .help = "Print JSON (image-check.schema.json)."},
	{OPTION_ROW("list-rules", OPTION_FLAG, given.list_rules),
	 .help = "List the rules, each with its source, and do nothing else."},
	{OPTION_ROW("show-host", OPTION_FLAG, given.show_host),
	 .help = "Print the facts of the host (host.schema.json) and do nothing else."},
	{0},
};

const struct command_spec command_image_check = {
	.name = "image check",
	.summary = "Predict whether an image works on a host, before it is started",
	.arguments = "[IMAGE]",
	.description =
		"Compares the image's platform, variables and labels with the facts of a host: "
		"builds and editions of Windows, isolation mode, device strings and HCS schemas, "
		"processor levels, NVIDIA's drivers, toolkits and NVIDIA_REQUIRE_* conditions, ROCm "
		"releases, Intel's platforms. Each rule prints its reason with the numbers of image "
		"and host, advice, and its source; the worst verdict is the answer.\n\nIMAGE is "
		"docker://HOST/NAME:TAG, oci:DIRECTORY[:TAG], oci-archive:FILE[:TAG], "
		"docker-archive:FILE, or containerd:NAME. From an index the entry is chosen that the "
		"host's runtime would choose; if there is none, the reason for each entry is printed "
		"(\"no matching manifest\").",
	.options = check_options,
	.examples = TEXTS(
		"gpucert image check oci:layout:latest",
		"Check an image of an OCI layout on this machine.",
		"gpucert image check --show-host >host.json",
		"Record the facts of this host, for a check elsewhere.",
		"gpucert image check --host host.json oci-archive:image.tar",
		"Check an archive on that host.",
		"gpucert image check --host node.json --platform windows/amd64:10.0.20348.2582 --runtime docker",
		"Ask whether an image of Windows Server 2022 would run on a recorded node."),
	.exit_codes = TEXTS("0", "it works", "1", "it cannot work", "2", "usage", "3",
			    "the image or the host cannot be read", "4",
			    "it works only with Hyper-V isolation, and so without a GPU", "5",
			    "unknown: a decisive fact is not known"),
	.run = check_run,
};
