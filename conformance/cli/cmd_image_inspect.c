/* SPDX-License-Identifier: MIT */
/* `image inspect`: the drivers that an image contains, and those that it requires. */
#include "base/cleanup.h"
#include "base/members.h"
#include "base/style.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/image_argument.h"
#include "containers/judging/contents/contents.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *platform;
	bool json;
} given;

struct inspection {
	struct image_argument argument;
	struct image_contents contents;
};

static void inspection_free(struct inspection *it)
{
	image_contents_free(&it->contents);
	image_argument_free(&it->argument);
}

/* Variables and labels that name the driver or device that an image requires. */
static const char *const constraints[] = {
	"NVIDIA_REQUIRE_*",
	"NVIDIA_DISABLE_REQUIRE",
	"NVIDIA_VISIBLE_DEVICES",
	"NVIDIA_DRIVER_CAPABILITIES",
	"NVIDIA_*_VERSION",
	"NV_CUDA*_VERSION",
	"CUDA_VERSION",
	"CUDA_VISIBLE_DEVICES",
	"ROCM_VERSION",
	"ROCR_VISIBLE_DEVICES",
	"HIP_VISIBLE_DEVICES",
	"ZE_AFFINITY_MASK",
	"LIBVA_DRIVER_NAME",
	"com.nvidia.*",
	"com.amd.*",
	"com.intel.*",
	"org.opencontainers.image.base.name",
};

static bool constrains(const struct json_pair *pair)
{
	for (size_t i = 0; i < ARRAY_SIZE(constraints); i++) {
		if (text_glob(constraints[i], pair->name))
			return true;
	}
	return false;
}

static void add_heading(struct text *out, const char *heading)
{
	const bool coloured = style_enabled(STDOUT_FILENO);
	text_addf(out, "\n%s%s%s\n", style(coloured, STYLE_BOLD), heading,
		  style(coloured, STYLE_RESET));
}

static void add_pairs(struct text *out, const struct json_pair *pairs, size_t count, bool *headed)
{
	for (size_t i = 0; i < count; i++) {
		if (!constrains(&pairs[i]))
			continue;
		if (!*headed)
			add_heading(out, "Variables and labels about drivers");
		*headed = true;
		text_add_line(out, "  %s = %s", pairs[i].name, pairs[i].value);
	}
}

static void add_needs(struct text *out, const struct image_contents *contents, bool missing,
		      const char *heading)
{
	bool headed = false;
	for (size_t i = 0; i < contents->need_count; i++) {
		const struct contents_need *need = &contents->needs[i];
		if ((need->missing[0] != '\0') != missing)
			continue;
		if (!headed)
			add_heading(out, heading);
		headed = true;
		text_add_line(out, "  %s needs %s%s%s", need->path, need->name, missing ? ": " : "",
			      need->missing);
	}
}

static void print_text(const struct inspection *it, struct text *out)
{
	const struct image *image = &it->argument.image;
	const struct image_contents *contents = &it->contents;
	struct arena arena CLEANUP(arena_free) = {0};
	bool headed = false;
	text_add_line(out, "%-12s %s", "Image", image->reference);
	text_add_line(out, "%-12s %s", "Digest", image->digest);
	text_add_line(out, "%-12s %s", "Platform", image_platform_name(&image->platform, &arena));
	text_addf(out, "%-12s %zu, with %" PRIu64 " files in %.1f MB unpacked\n", "Layers",
		  image->layer_count, contents->files, (double)contents->bytes / 1e6);
	if (contents->layers_absent > 0)
		text_addf(out, "%-12s %u layers of the base image are on another server\n",
			  "Not read", contents->layers_absent);
	if (contents->files_unread > 0)
		text_addf(out, "%-12s %u programs or libraries are broken or too large\n",
			  "Not read", contents->files_unread);
	text_addf(out, "%-12s %s%s\n", "C library", contents->glibc[0] != '\0' ? "glibc " : "-",
		  contents->glibc);

	if (contents->library_count > 0)
		add_heading(out, "Drivers and runtimes");
	for (size_t i = 0; i < contents->library_count; i++) {
		const struct contents_library *library = &contents->libraries[i];
		text_add_line(out, "  %-16s %-14s %s (layer %u)", library->component,
			      library->version[0] != '\0' ? library->version : "-", library->path,
			      library->layer + 1);
	}
	add_pairs(out, image->environment, image->environment_count, &headed);
	add_pairs(out, image->labels, image->label_count, &headed);
	add_needs(out, contents, false, "The most that its programs ask for");
	add_needs(out, contents, true, "Missing");

	if (contents->note_count > 0)
		add_heading(out, "Notes");
	for (size_t i = 0; i < contents->note_count; i++) {
		const struct contents_note *note = &contents->notes[i];
		text_add_line(out, "  %s %s.",
			      note->path[0] != '\0' ? note->path : "What the image starts",
			      note->text);
		text_add_line(out, "  %s", note->advice);
	}
}

static void member_pairs(struct members *members, const char *key, const struct json_pair *pairs,
			 size_t count)
{
	struct members json = member_object(members, key);
	for (size_t i = 0; i < count; i++) {
		if (constrains(&pairs[i]))
			member_string(&json, pairs[i].name, pairs[i].value);
	}
}

static int inspect_run(const struct text_list *arguments)
{
	struct inspection it CLEANUP(inspection_free) = {0};
	struct error err = {0};
	int rc = image_argument_open(arguments->items[0], given.platform, &it.argument, &err);
	if (rc == 0 && given.platform == NULL)
		rc = image_argument_load_own(&it.argument, &err);
	if (rc == 0)
		rc = image_contents_read_shown(it.argument.source, &it.argument.image, &it.contents,
					       &err);
	if (rc < 0)
		return command_failed("image inspect", rc, &err);

	const struct image *image = &it.argument.image;
	struct arena arena CLEANUP(arena_free) = {0};
	struct members json CLEANUP_MEMBERS = members_new();
	struct text text CLEANUP_TEXT = {0};
	if (!given.json) {
		print_text(&it, &text);
		return command_end("image inspect", options_print(text_take(&text), &err), &err);
	}

	member_string(&json, "schema", "gpucert-image-contents/1");
	member_string(&json, "image", image->reference);
	member_string(&json, "digest", image->digest);
	member_string(&json, "platform", image_platform_name(&image->platform, &arena));
	member_int(&json, "layers", (int64_t)image->layer_count);
	member_pairs(&json, "variables", image->environment, image->environment_count);
	member_pairs(&json, "labels", image->labels, image->label_count);
	member_item(&json, "contents", image_contents_json(&it.contents));
	rc = options_print(json_print(json.object), &err);
	return command_end("image inspect", rc, &err);
}

static const struct option_spec inspect_options[] = {
	{OPTION_ROW("platform", OPTION_STRING, given.platform), .value = "PLATFORM",
	 .help = "Which platform's image of an index to inspect: linux/amd64, "
		 "windows/amd64:10.0.20348.2582. Default: this machine's."},
	IMAGE_SOURCE_OPTIONS,
	{OPTION_ROW("json", OPTION_FLAG, given.json),
	 .help = "Print JSON (image-contents.schema.json)."},
	{0},
};

const struct command_spec command_image_inspect = {
	.name = "image inspect",
	.summary = "Show the drivers that an image contains, and those that it requires",
	.arguments = "IMAGE",
	.description =
		"Reads all layers of an image, without unpacking them, and shows the user-land "
		"libraries of drivers and runtimes in it (CUDA, NVML, cuDNN, ROCm, Level Zero, "
		"VA-API, Mesa, OpenCL, Vulkan; DLLs with their versions), the variables and labels "
		"that constrain drivers, the glibc and the x86-64 level that its programs need, "
		"libraries that are missing, and scripts that copy driver files into System32. Files "
		"that a higher layer removes are not shown.\n\nIMAGE is docker://HOST/NAME:TAG, "
		"oci:DIRECTORY[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE, or "
		"containerd:NAME.",
	.options = inspect_options,
	.examples = TEXTS("gpucert image inspect oci-archive:image.tar",
			  "Show which drivers and runtimes an image contains, and what it needs.",
			  "gpucert image inspect --json docker://registry.example/team/app:1",
			  "The same for an image in a registry, as JSON."),
	.exit_codes = EXIT_CODES("done",
				 "the image cannot be read, or a layer does not match its digest"),
	.run = inspect_run,
};
