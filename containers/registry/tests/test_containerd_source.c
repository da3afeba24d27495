/* SPDX-License-Identifier: MIT */
/* An image in a real containerd, by its name and by its digest; and skopeo's copies of it. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "containers/registry/image_source.h"
#include "containers/tests/rig.h"

static struct rig rig;

static uint64_t layer_bytes(struct image_source *source, const struct image_descriptor *layer)
{
	struct image_stream *stream CLEANUP_IMAGE_STREAM = NULL;
	struct error err = {0};
	char chunk[65536];
	uint64_t total = 0;
	size_t count = 0;
	UNIT_INT(image_source_open_layer(source, layer, &stream, &err), 0);
	while (image_stream_read(stream, chunk, sizeof(chunk), &count, &err) == 0 && count > 0)
		total += count;
	UNIT_STRING(err.text, "");
	return total;
}

/* Every layer can be read to its verified end. Caller frees *digest. */
static void expect_image(const char *string, const struct image_source_options *options,
			 char **digest)
{
	static const struct image_platform here = {"linux", "amd64", "", "", NULL, 0};
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct error err = {0};
	UNIT_INT(image_source_open(string, options, &source, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_NEED(source != NULL);
	UNIT_INT(image_source_load(source, &here, &image, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_NEED(image.layer_count > 0);
	UNIT_STRING(image.platform.os, "linux");
	for (size_t i = 0; i < image.layer_count; i++)
		UNIT_INT(layer_bytes(source, &image.layers[i]), image.layers[i].size);
	*digest = strdup(image.digest);
}

static struct image_source_options options_of(char **root)
{
	const struct runtime_description *runtime = runtime_describe(rig.runtime);
	char *directory CLEANUP_FREE = path_directory(runtime->work_directory);
	*root = path_join(directory, "root");
	return (struct image_source_options){.containerd_root = *root,
					     .containerd_address = runtime->address};
}

static void test_containerd(void)
{
	char *root CLEANUP_FREE = NULL;
	const struct image_source_options options = options_of(&root);
	char *string CLEANUP_FREE = text_format("containerd:%s", rig.images.probe.reference);
	char *digest CLEANUP_FREE = NULL;
	char *again CLEANUP_FREE = NULL;
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct error err = {0};
	expect_image(string, &options, &digest);
	char *exact CLEANUP_FREE = text_format("containerd:%s", digest);
	expect_image(exact, &options, &again);
	UNIT_STRING(again, digest);
	UNIT_INT(image_source_open("containerd:docker.io/library/nothing:1", &options, &source,
				   &err),
		 ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "no such image for Kubernetes");
}

static void skopeo(const char *from, const char *to)
{
	const char *argv[] = {"skopeo", "--insecure-policy", "copy", from, to, NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = 120000};
	char *out CLEANUP_FREE = NULL;
	struct error err = {0};
	UNIT_INT(process_ask(&spec, &out, &err), 0);
	UNIT_STRING(err.text, "");
}

/* The archive that the images were imported from, and what skopeo makes of it in every form. */
static void test_forms(void)
{
	static const char *const forms[] = {"oci:%s/layout:probe", "oci-archive:%s/a.tar:probe",
					    "docker-archive:%s/d.tar:probe:1"};
	char *program CLEANUP_FREE = NULL;
	char *directory CLEANUP_FREE = NULL;
	char *from CLEANUP_FREE =
		text_format("oci-archive:%s:%s", rig.images.archive, rig.images.probe.reference);
	char *first CLEANUP_FREE = NULL;
	char *layout CLEANUP_FREE = NULL; /* skopeo compresses the layers */
	expect_image(from, NULL, &first);
	if (process_find_program("skopeo", &program, NULL) < 0)
		return;
	UNIT_INT(file_make_temporary(NULL, "gpucert-test-", &directory, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *mark = strstr(forms[i], "%s");
		char *digest CLEANUP_FREE = NULL;
		char *to CLEANUP_FREE = text_format("%.*s%s%s", (int)(mark - forms[i]), forms[i],
						    directory, mark + 2);
		skopeo(from, to);
		expect_image(to, NULL, &digest);
		if (i == 1) /* docker-archive has another manifest */
			UNIT_STRING(digest, layout);
		layout = layout != NULL ? layout : STEAL(digest);
	}
	UNIT_INT(file_remove_tree(directory, NULL), 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"containerd", test_containerd}, {"skopeo's forms", test_forms}, CU_TEST_INFO_NULL};
	if (rig_reason_to_skip() != NULL) {
		(void)printf("skipped: %s\n", rig_reason_to_skip());
		return RIG_SKIP;
	}
	rig_open(&rig, rig_base("registry"));
	int rc = unit_run("containerd as a source", tests);
	rig_close(&rig);
	return rc;
}
