/* SPDX-License-Identifier: MIT */
#include "conformance/checks/authenticity.h"

#include "base/gpu_apis.h"
#include "conformance/checks/tamper.h"
#include "conformance/checks/video.h"
#include "conformance/runner/context.h"
#include "containers/images/images.h"
#include "containers/offers.h"
#include "workloads/common/reference.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { DIFFERENCES_SHOWN = 8, ELEMENTS_MAX = 1 << 26 };

/* Records the findings. True: there are none. */
static bool expect_none(struct check_run *run, const char *label, const char *what,
			const char *wanted, int rc, const struct text_list *found,
			const struct error *err)
{
	if (!check_works(run, rc, label, err))
		return false;
	for (size_t i = 0; i < found->count && i < DIFFERENCES_SHOWN; i++)
		(void)check_expect(run, false, check_format(run, "%s: %s", label, what), wanted,
				   "%s", found->items[i]);
	return found->count == 0;
}

bool authenticity_expect_answer(struct check_run *run, const char *label, const struct grant *grant)
{
	const struct context *context = check_context(run);
	struct text_list found CLEANUP_TEXT_LIST = {0};
	if (strcmp(context->node->system.os, "windows") == 0)
		tamper_find_windows(grant, &found);
	else
		tamper_find(grant, &context->image, check_digests(run), &found);
	return expect_none(run, label, "the answer", "leaves the probe untouched", 0, &found, NULL);
}

bool authenticity_expect(struct check_run *run, const char *label, const char *probe,
			 const struct grant *grant, int64_t pid, struct container_view *view)
{
	if (!OFFERS_INSPECTION)
		return true; /* no probe is held here */
	const struct context *context = check_context(run);
	struct error err = {0};
	int rc = container_inspect(pid, check_digests(run), view, &err);
	/* It was killed meanwhile: launch_wait() knows how. */
	if (rc == ERROR_NOT_FOUND)
		return true;
	if (rc == ERROR_UNSUPPORTED) {
		check_unsupported(run, "%s: that the image's own probe runs is not proven: %s",
				  label, err.text);
		return true;
	}
	if (!check_works(run, rc, label, &err))
		return false;

	/* The answer's mounts as they really are, and the variables, which hooks and CDI edits may
	 * add. */
	struct text_list tampering CLEANUP_TEXT_LIST = {0};
	rc = tamper_find_seen(grant, &context->image, view, &tampering, &err);
	if (!expect_none(run, label, "the answer in the container", "leaves the probe untouched",
			 rc, &tampering, &err))
		return false;

	const struct image_manifest_file *file = image_manifest_find(
		&context->image, check_format(run, IMAGES_PROGRAM_DIRECTORY "/%s", probe));
	if (file == NULL) {
		check_broken(run, "%s: the content of the image is not known", label);
		return false;
	}
	if (!check_expect(run, strcmp(view->exe_digest, file->digest) == 0,
			  check_format(run, "%s: running program", label),
			  "the image's own, by digest", "%s, %s", view->exe, view->exe_digest))
		return false;

	struct text_list differences CLEANUP_TEXT_LIST = {0};
	rc = container_compare(view, &context->image, &differences, &err);
	if (!expect_none(run, label, "the image's programs and libraries", "in their places", rc,
			 &differences, &err))
		return false;

	/* Files in the container's own layer that loaders or drivers could read. */
	struct text_list written CLEANUP_TEXT_LIST = {0};
	struct text_list usual CLEANUP_TEXT_LIST = {0};
	rc = container_written(view, &context->image, &written, &usual, &err);
	text_each (path, &usual)
		check_note(run, "%s: a hook of the runtime wrote %s", label, path);
	return expect_none(run, label, "files that a hook wrote into the container", "none", rc,
			   &written, &err);
}

int document_new_launch(const char *probe, struct document_launch *out, struct error *err)
{
	unsigned char bytes[(DOCUMENT_NONCE_SIZE - 1) / 2] = {0};
	uint32_t seed = 0;
	int rc = uv_random(NULL, NULL, bytes, sizeof(bytes), 0, NULL);
	if (rc == 0)
		rc = uv_random(NULL, NULL, &seed, sizeof(seed), 0, NULL);
	if (rc < 0)
		return error_uv(err, rc, "random bytes");
	*out = (struct document_launch){.probe = probe, .seed = seed != 0 ? seed : 1};
	text_hex(out->nonce, bytes, sizeof(bytes));
	return 0;
}

/* `random`: the text differs from launch to launch. */
static bool expect_text(struct check_run *run, const char *label, const cJSON *document,
			const char *pointer, const char *wanted, bool random)
{
	const char *what = check_format(run, "%s: %s", label, pointer);
	const char *saw = json_pointer_string(document, pointer);
	return random ? check_expect_random(run, what, saw, wanted)
		      : check_expect_text(run, what, saw, wanted);
}

/* The values read back can only come from work on this launch's input. */
static bool expect_digest(struct check_run *run, const char *label, const cJSON *document,
			  const char *array, const struct document_launch *launch)
{
	double elements = json_pointer_number(document, "/work/elements");
	char wanted[DIGEST_SIZE] = "";
	struct error err = {0};
	if (!(elements >= 1 && elements <= ELEMENTS_MAX))
		return check_expect(run, false, "/work/elements", "a number of elements",
				    "something else");
	int rc = work_expected_digest(array, launch->seed, (size_t)elements, wanted, &err);
	return check_works(run, rc, NULL, &err) &&
	       expect_text(run, label, document, check_format(run, "/work/digests/%s", array),
			   wanted, true);
}

static bool expect_seed(struct check_run *run, const cJSON *document,
			const struct document_launch *launch)
{
	return check_expect_random(
		run, "/work/seed",
		check_format(run, "%.0f", json_pointer_number(document, "/work/seed")),
		check_format(run, "%llu", (unsigned long long)launch->seed));
}

bool document_expect_launch(struct check_run *run, const char *label, const cJSON *document,
			    const struct document_launch *launch)
{
	static const struct {
		const char *probe; /* NULL: every other one */
		const char *arrays[4];
	} works[] = {
		{"probe-directml", {"sum", "product", NULL}},
		{"probe-cuda", {"values", "y", "hits", NULL}},
		{"probe-hip", {"fill", "values", "y", NULL}},
		{"probe-levelzero", {"fill", "values", "y", NULL}},
		{"probe-opengl", {"values", "y", "pixels", NULL}},
		{"probe-d3d11", {"values", "y", "pixels", NULL}},
		{NULL, {"values", "y", NULL}},
	};
	const char *api = launch->probe + strlen("probe-");
	const char *status = json_pointer_string(document, "/work/status");
	bool held = expect_text(run, label, document, "/schema", "gpucert-probe/1", false);
	held = expect_text(run, label, document, "/probe", api, false) && held;
	held = expect_text(run, label, document, "/version", GPUCERT_VERSION, false) && held;
	held = expect_text(run, label, document, "/nonce", launch->nonce, true) && held;
	if (!held)
		return false;

	/* Encoded streams prove themselves by being decoded; an encoder cannot verify itself. */
	const struct gpu_api *known = gpu_api_find(api);
	if (OFFERS_ENCODERS && known != NULL && known->encodes &&
	    (text_equal(status, "ok") || text_equal(status, "encoded")))
		return expect_seed(run, document, launch) &&
		       video_expect_streams(run, label, document, launch->seed, NULL);
	if (!text_equal(status, "ok"))
		return true;

	size_t row = 0;
	held = expect_seed(run, document, launch);
	while (works[row].probe != NULL && strcmp(launch->probe, works[row].probe) != 0)
		row++;
	for (const char *const *array = works[row].arrays; *array != NULL; array++)
		held = expect_digest(run, label, document, *array, launch) && held;
	/* A device of Shader Model 6 runs the shader of that language, too (workloads/d3d12/). */
	const char *model = json_pointer_string(document, "/work/shaderModel");
	if (strcmp(launch->probe, "probe-d3d12") == 0 && model != NULL && strtod(model, NULL) >= 6)
		held = expect_digest(run, label, document, "dxilValues", launch) &&
		       expect_digest(run, label, document, "dxilY", launch) && held;
	if (works[row].probe == NULL && cJSON_IsObject(json_pointer(document, "/work/render")))
		held = expect_digest(run, label, document, "pixels", launch) && held;
	return held;
}
