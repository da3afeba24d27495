/* SPDX-License-Identifier: MIT */
/* `image select`: the best image of a catalogue for a host; `image labels`: the host's facts as node labels. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/style.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/image_argument.h"
#include "containers/judging/selection/labels.h"
#include "containers/judging/selection/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_NONE = 1, EXIT_UNKNOWN = 5 };

static const char *const label_formats[] = {"nfd", "node", NULL};

static struct {
	const char *host, *runtime, *format;
	bool json;
} given = {.host = "local", .runtime = "any", .format = "nfd"};

static int select_run(const struct text_list *arguments)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct catalogue catalogue CLEANUP_CATALOGUE = {0};
	struct selection selection CLEANUP_SELECTION = {0};
	struct text text CLEANUP_TEXT = {0};
	struct error err = {0};
	const struct compat_options options = {
		.runtime = (enum compat_runtime)text_position(compat_runtime_names, given.runtime)};
	const char *name = arguments->items[0];
	int rc = host_facts_named(given.host, &host, &err);
	if (rc == 0)
		rc = catalogue_read(name, &host, &image_argument_options, &catalogue, &err);
	if (rc == 0)
		selection_make(&catalogue, &host, &options, &selection);
	if (rc == 0 && given.json) {
		cJSON *document CLEANUP_JSON = selection_to_json(&selection, name);
		rc = options_print(json_print(document), &err);
	} else if (rc == 0) {
		selection_print(&selection, style_enabled(STDOUT_FILENO), &text);
		rc = options_print(text_take(&text), &err);
	}
	if (rc < 0)
		return command_failed("image select", rc, &err);

	enum compat_verdict verdict = selection_verdict(&selection);
	if (verdict == COMPAT_WORKS)
		return EXIT_SUCCESS;
	return verdict == COMPAT_UNKNOWN ? EXIT_UNKNOWN : EXIT_NONE;
}

static int labels_run(const struct text_list *arguments)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct text text CLEANUP_TEXT = {0};
	struct error err = {0};
	const char *prefix = text_equal(given.format, "node") ? LABEL_PREFIX : LABEL_NFD_PREFIX;
	(void)arguments;
	int rc = host_facts_named(given.host, &host, &err);
	if (rc < 0)
		return command_failed("image labels", rc, &err);
	labels_of_host(&host, prefix, &text);
	rc = options_print(text_take(&text), &err);
	return command_end("image labels", rc, &err);
}

static const struct option_spec select_options[] = {
	IMAGE_HOST_OPTION,
	IMAGE_RUNTIME_OPTION,
	IMAGE_SOURCE_OPTIONS,
	{OPTION_ROW("json", OPTION_FLAG, given.json),
	 .help = "Print JSON (image-select.schema.json)."},
	{0},
};

const struct command_spec command_image_select = {
	.name = "image select",
	.summary = "Rank a catalogue's images for a host, with the reason each was rejected",
	.arguments = "CATALOGUE",
	.description =
		"CATALOGUE is a file (JSON, catalogue.schema.json) with the requirements of each "
		"image on driver, CUDA, compute capability, architecture, processor and Windows; or "
		"an index of images (docker://HOST/NAME:TAG, oci:DIRECTORY[:TAG], "
		"oci-archive:FILE[:TAG], docker-archive:FILE, containerd:NAME); or all tags of a "
		"repository (docker://HOST/NAME). The rules are those of 'image check', without "
		"layers, and in a registry those of the image compatibility artifact of Node Feature "
		"Discovery that refers to an image.\n\nImages that work come first, then those of "
		"which it is unknown, then those that work only without a GPU (Hyper-V isolation), "
		"then those that cannot work. Among equals the first difference decides: an image "
		"that names a GPU of the host; the highest x86-64 level; CUDA that the driver fully "
		"supports, then by minor-version compatibility, then none; the newest CUDA; the "
		"host's own build of Windows, then the newest; the newest image. A tie is broken by "
		"the reference, in the order of its bytes, and then by the position in the catalogue.",
	.options = select_options,
	.examples = TEXTS("gpucert image select catalogue.json",
			  "Rank the images of a file for this machine.",
			  "gpucert image select --host node.json oci:layout:latest",
			  "Rank the images of an index for a recorded node.",
			  "gpucert image select docker://registry.example/solver",
			  "Rank all tags of a repository."),
	.exit_codes = TEXTS("0", "an image works; the first is the best", "1", "none works", "2",
			    "usage", "3", "the catalogue or the host cannot be read", "5",
			    "unknown: a decisive fact is not known"),
	.run = select_run,
};

static const struct option_spec labels_options[] = {
	IMAGE_HOST_OPTION,
	{OPTION_ROW("format", OPTION_CHOICE, given.format), .value = "FORMAT",
	 .help = "nfd: lines of a feature file of Node Feature Discovery; node: labels for kubectl.",
	 .choices = label_formats},
	{0},
};

const struct command_spec command_image_labels = {
	.name = "image labels",
	.summary = "Print a host's facts as labels, so that a cluster can match nodes to images",
	.description =
		"One line for each known fact that the rules of 'image check' use: versions of "
		"drivers, compute capability, architectures, x86-64 level, build of Windows. With "
		"several GPUs of one vendor a label has the lowest value, which all of them reach. "
		"Names and values follow the rules of Kubernetes: at most 63 characters, letters, "
		"digits, '-', '_' and '.'; other characters become '_'.",
	.options = labels_options,
	.examples = TEXTS(
		"gpucert image labels >/etc/kubernetes/node-feature-discovery/features.d/gpucert",
		"Let Node Feature Discovery label this node: feature.node.kubernetes.io/gpucert-cpu-level.",
		"kubectl label node NODE $(gpucert image labels --format node)",
		"Label it by hand: " LABEL_PREFIX "cpu-level."),
	.exit_codes = EXIT_CODES("done", "the host cannot be read"),
	.run = labels_run,
};
