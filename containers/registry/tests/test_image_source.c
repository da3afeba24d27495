/* SPDX-License-Identifier: MIT */
#include "containers/registry/image_source.h"

#include "containers/registry/tests/layout_maker.h"

#include <inttypes.h>

static const char linux_configuration[] =
	"{\"os\": \"linux\", \"architecture\": \"amd64\", \"config\": {\"Labels\": {\"a\": \"b\"}, "
	"\"Env\": [\"PATH=/bin\", \"EMPTY\"], \"Entrypoint\": [\"/probe\", \"run\"], "
	"\"Cmd\": null}}";
static const char windows_configuration[] =
	"{\"os\": \"windows\", \"architecture\": \"amd64\", \"os.version\": \"10.0.20348.2582\", "
	"\"os.features\": [\"win32k\"]}";
static const struct image_platform linux_amd64 = {"linux", "amd64", "", ""};

/* Opens and loads; the code, and what went wrong into `err`. */
static int load(const char *string, const struct image_platform *platform, struct image *image,
		struct error *err)
{
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	int rc = image_source_open(string, NULL, &source, err);
	return rc == 0 ? image_source_load(source, platform, image, err) : rc;
}

static void expect_failure(const char *string, const struct image_platform *platform, int code,
			   const char *part)
{
	struct image image CLEANUP_IMAGE = {0};
	struct error err = {0};
	UNIT_INT(load(string, platform, &image, &err), code);
	UNIT_CONTAINS(err.text, part);
}

static void read_layer(struct image_source *source, const struct image_descriptor *layer,
		       const char *wanted)
{
	struct blob_reader *stream CLEANUP_BLOB_READER = NULL;
	struct text all CLEANUP_TEXT = {0};
	struct error err = {0};
	char chunk[7];
	size_t count = 0;
	CU_ASSERT_EQUAL_FATAL(image_source_open_layer(source, layer, &stream, &err), 0);
	while (stream->read(stream, chunk, sizeof(chunk), &count, &err) == 0 && count > 0)
		text_append(&all, chunk, count);
	UNIT_STRING(err.text, "");
	UNIT_STRING(text_string(&all), wanted);
}

static void test_layout(void)
{
	struct layout_maker maker;
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct error err = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	size_t size = 0;
	layout_maker_open(&maker);
	layout_add_image(&maker, linux_configuration, "the layer", digest, &size);
	layout_write_index(&maker,
			   "{\"manifests\": [{\"mediaType\": \"" OCI_MANIFEST
			   "\", \"digest\": \"%s\", \"size\": %zu}]}",
			   digest, size);
	UNIT_INT(image_source_open(maker.string, NULL, &source, &err), 0);
	UNIT_INT(image_source_load(source, &linux_amd64, &image, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(image.digest, digest);
	UNIT_STRING(image.reference, maker.string);
	UNIT_STRING(image.artifact_type, "");
	UNIT_STRING(image.platform.os, "linux");
	UNIT_STRING(image_pair_value(image.labels, image.label_count, "a"), "b");
	UNIT_STRING(image_pair_value(image.annotations, image.annotation_count, "org.example"),
		    "yes");
	UNIT_STRING(image_pair_value(image.environment, image.environment_count, "PATH"), "/bin");
	UNIT_STRING(image_pair_value(image.environment, image.environment_count, "EMPTY"), "");
	UNIT_INT(image.entrypoint_count, 2);
	UNIT_STRING(image.entrypoint[1], "run");
	UNIT_INT(image.command_count, 0);
	UNIT_INT(image.layer_count, 1);
	read_layer(source, &image.layers[0], "the layer");
	layout_maker_close(&maker);
}

/* Two images under tags, the second for two platforms through an index of its own. */
static void write_tagged(const struct layout_maker *maker)
{
	char first[DIGEST_TEXT_SIZE] = "";
	char other[DIGEST_TEXT_SIZE] = "";
	char nested[DIGEST_TEXT_SIZE] = "";
	size_t first_size = 0;
	size_t other_size = 0;
	layout_add_image(maker, linux_configuration, "linux", first, &first_size);
	layout_add_image(maker, windows_configuration, "windows", other, &other_size);
	char *index CLEANUP_FREE = text_format(
		"{\"schemaVersion\": 2, \"manifests\": ["
		"{\"mediaType\": \"" OCI_MANIFEST "\", \"digest\": \"%s\", \"size\": %zu, "
		"\"platform\": {\"os\": \"linux\", \"architecture\": \"amd64\"}},"
		"{\"mediaType\": \"" OCI_MANIFEST "\", \"digest\": \"%s\", \"size\": %zu, "
		"\"platform\": {\"os\": \"windows\", \"architecture\": \"amd64\", \"os.version\": "
		"\"10.0.20348.2582\"}},"
		"{\"mediaType\": \"" OCI_MANIFEST "\", \"digest\": \"%s\", \"size\": 7, "
		"\"platform\": {\"os\": \"unknown\", \"architecture\": \"unknown\"}}]}",
		first, first_size, other, other_size, first);
	layout_add(maker, index, nested);
	layout_write_index(
		maker,
		"{\"manifests\": [{\"mediaType\": \"" OCI_MANIFEST "\", \"digest\": \"%s\", "
		"\"size\": %zu, \"annotations\": {\"org.opencontainers.image.ref.name\": "
		"\"one\"}}, {\"mediaType\": \"" OCI_INDEX "\", \"digest\": \"%s\", \"size\": %zu, "
		"\"annotations\": {\"org.opencontainers.image.ref.name\": \"v2\", "
		"\"io.containerd.image.name\": \"docker.io/library/both:v2\"}}]}",
		first, first_size, nested, strlen(index));
}

static void test_tags_and_platforms(void)
{
	static const struct image_platform build_2022 = {"windows", "amd64", "", "10.0.20348.1"};
	static const struct image_platform build_2025 = {"windows", "amd64", "", "10.0.26100.1"};
	struct layout_maker maker;
	struct image image CLEANUP_IMAGE = {0};
	struct error err = {0};
	layout_maker_open(&maker);
	write_tagged(&maker);
	char *one CLEANUP_FREE = text_format("%s:one", maker.string);
	char *both CLEANUP_FREE = text_format("%s:v2", maker.string);
	char *named CLEANUP_FREE = text_format("%s:docker.io/library/both:v2", maker.string);
	char *none CLEANUP_FREE = text_format("%s:v3", maker.string);
	UNIT_INT(load(one, NULL, &image, &err), 0);
	UNIT_STRING(image.platform.os, "linux");
	image_free(&image);
	UNIT_INT(load(both, &build_2022, &image, &err), 0);
	UNIT_STRING(image.platform.os_version, "10.0.20348.2582");
	char *digest CLEANUP_FREE = text_format("%s@%s", maker.string, image.digest);
	image_free(&image);
	UNIT_INT(load(named, &linux_amd64, &image, &err), 0);
	UNIT_STRING(image.platform.os, "linux");
	image_free(&image);
	UNIT_INT(load(digest, NULL, &image, &err), 0);
	UNIT_STRING(image.platform.os, "windows");
	UNIT_STRING(err.text, "");
	expect_failure(both, &build_2025, ERROR_NOT_FOUND,
		       "no manifest for windows/amd64 10.0.26100.1; there is linux/amd64, "
		       "windows/amd64 10.0.20348.2582");
	expect_failure(both, NULL, ERROR_ARGUMENT, "for several platforms");
	expect_failure(none, NULL, ERROR_NOT_FOUND, "names: one, docker.io/library/both:v2");
	expect_failure(maker.string, NULL, ERROR_ARGUMENT, "several images, name one of one");
	layout_maker_close(&maker);
}

static void test_damage(void)
{
	struct layout_maker maker;
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct error err = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	size_t size = 0;
	layout_maker_open(&maker);
	layout_add_image(&maker, linux_configuration, "the layer", digest, &size);
	static const char index[] = "{\"manifests\": [{\"mediaType\": \"" OCI_MANIFEST
				    "\", \"digest\": \"%s\", \"size\": %zu}]}";
	layout_write_index(&maker, index, digest, size + 1);
	expect_failure(maker.string, NULL, ERROR_PROTOCOL, "ends after");
	layout_write_index(&maker, index, digest, size - 1);
	expect_failure(maker.string, NULL, ERROR_PROTOCOL, "is longer than");
	layout_write_index(&maker, index, digest, (size_t)5 << 20);
	expect_failure(maker.string, NULL, ERROR_LIMIT, "more than 4194304");
	layout_write_index(&maker, index, digest, size);
	UNIT_INT(image_source_open(maker.string, NULL, &source, &err), 0);
	UNIT_INT(image_source_load(source, NULL, &image, &err), 0);
	layout_put(&maker, image.layers[0].digest, "THE LAYER");
	struct blob_reader *stream CLEANUP_BLOB_READER = NULL;
	char chunk[64];
	size_t count = 0;
	UNIT_INT(image_source_open_layer(source, &image.layers[0], &stream, &err), 0);
	UNIT_INT(stream->read(stream, chunk, sizeof(chunk), &count, &err), 0);
	UNIT_INT(stream->read(stream, chunk, sizeof(chunk), &count, &err), ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "has the digest sha256:");
	UNIT_INT(stream->read(stream, chunk, sizeof(chunk), &count, &err), ERROR_PROTOCOL);
	blob_reader_close(&stream);
	char *path CLEANUP_FREE = text_format("%s/blobs", maker.directory);
	UNIT_INT(file_remove_tree(path, NULL), 0);
	expect_failure(maker.string, NULL, ERROR_NOT_FOUND, "is not in");
	layout_write(&maker, "oci-layout", "{\"imageLayoutVersion\": \"2.0.0\"}");
	expect_failure(maker.string, NULL, ERROR_UNSUPPORTED, "version 2.0.0");
	expect_failure("oci:/nonexistent", NULL, ERROR_NOT_FOUND, "/nonexistent");
	expect_failure("oci:/", NULL, ERROR_FORMAT, "not an OCI image layout");
	expect_failure("", NULL, ERROR_ARGUMENT, "");
	layout_maker_close(&maker);
}

/* Documents that would be read again and again, or without an end. */
static void test_hostile_indexes(void)
{
	struct layout_maker maker;
	char digest[DIGEST_TEXT_SIZE] = "";
	char self[DIGEST_TEXT_SIZE] = "";
	size_t size = 0;
	layout_maker_open(&maker);
	layout_add_image(&maker, linux_configuration, "layer", digest, &size);
	static const char entry[] = "{\"manifests\": [{\"mediaType\": \"%s\", \"digest\": \"%s\", "
				    "\"size\": %zu}, {\"mediaType\": \"%s\", \"digest\": \"%s\", "
				    "\"size\": %zu}]}";
	const char *type = OCI_MANIFEST;
	for (unsigned depth = 0; depth < 5; depth++) {
		char *index CLEANUP_FREE =
			text_format(entry, type, digest, size, type, digest, size);
		layout_add(&maker, index, digest);
		size = strlen(index);
		type = OCI_INDEX;
	}
	layout_write_index(&maker, entry, type, digest, size, type, digest, size);
	expect_failure(maker.string, NULL, ERROR_LIMIT, "nested deeper than 4");
	/* A digest cannot name what holds it: what claims to, has another digest. */
	digest_bytes("", 0, self);
	char *cycle CLEANUP_FREE =
		text_format(entry, OCI_INDEX, self, (size_t)100, OCI_INDEX, self, (size_t)100);
	layout_put(&maker, self, cycle);
	layout_write_index(&maker, entry, OCI_INDEX, self, strlen(cycle), OCI_INDEX, self,
			   strlen(cycle));
	expect_failure(maker.string, NULL, ERROR_PROTOCOL, "has the digest");
	layout_add(&maker, "{\"manifests\": [], \"layers\": []}", digest);
	layout_write_index(&maker, entry, OCI_INDEX, digest, (size_t)31, OCI_INDEX, digest,
			   (size_t)31);
	expect_failure(maker.string, NULL, ERROR_FORMAT, "both an index and a manifest");
	layout_maker_close(&maker);
}

static void test_artifact(void)
{
	struct layout_maker maker;
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	const struct image_index *index = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct error err = {0};
	char empty[DIGEST_TEXT_SIZE] = "";
	char digest[DIGEST_TEXT_SIZE] = "";
	layout_maker_open(&maker);
	layout_add(&maker, "{}", empty);
	char *manifest CLEANUP_FREE =
		text_format("{\"artifactType\": \"application/vnd.nfd\", \"config\": "
			    "{\"mediaType\": \"application/vnd.oci.empty.v1+json\", \"digest\": "
			    "\"%s\", \"size\": 2}, \"layers\": []}",
			    empty);
	layout_add(&maker, manifest, digest);
	layout_write_index(&maker,
			   "{\"manifests\": [{\"mediaType\": \"" OCI_MANIFEST
			   "\", \"digest\": \"%s\", \"size\": %zu}]}",
			   digest, strlen(manifest));
	expect_failure(maker.string, NULL, ERROR_UNSUPPORTED,
		       "an artifact of type application/vnd.nfd, not an image");
	UNIT_INT(image_source_open(maker.string, NULL, &source, &err), 0);
	UNIT_INT(image_source_index(source, &index, &err), 0);
	UNIT_INT(image_source_load_entry(source, &index->entries[0], &image, &err), 0);
	UNIT_STRING(image.artifact_type, "application/vnd.nfd");
	layout_maker_close(&maker);
}

/* What `docker save` writes: a layout with whole names, and "manifest.json" of old beside it. */
static void test_docker_archive(void)
{
	struct layout_maker maker;
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct error err = {0};
	char layer[DIGEST_TEXT_SIZE] = "";
	char configuration[DIGEST_TEXT_SIZE] = "";
	char digest[DIGEST_TEXT_SIZE] = "";
	digest_bytes("the layer", strlen("the layer"), layer);
	digest_bytes(linux_configuration, strlen(linux_configuration), configuration);
	char *manifest CLEANUP_FREE = text_format(
		"{\"config\": {\"mediaType\": \"application/vnd.oci.image.config.v1+json\", "
		"\"digest\": \"%s\", \"size\": %zu}, \"layers\": [{\"mediaType\": "
		"\"application/vnd.oci.image.layer.v1.tar\", \"digest\": \"%s\", \"size\": 9}]}",
		configuration, strlen(linux_configuration), layer);
	digest_bytes(manifest, strlen(manifest), digest);
	char *index CLEANUP_FREE =
		text_format("{\"manifests\": [{\"mediaType\": \"" OCI_MANIFEST
			    "\", \"digest\": \"%s\", \"size\": %zu, \"annotations\": "
			    "{\"io.containerd.image.name\": \"docker.io/library/tool:1\", "
			    "\"org.opencontainers.image.ref.name\": \"1\"}}]}",
			    digest, strlen(manifest));
	char *blobs[] = {text_format("blobs/sha256/%s", layer + sizeof("sha256")),
			 text_format("blobs/sha256/%s", configuration + sizeof("sha256")),
			 text_format("./blobs/sha256/%s", digest + sizeof("sha256"))};
	const struct tar_file files[] = {
		{.name = blobs[0], .content = "the layer"},
		{.name = blobs[1], .content = linux_configuration},
		{.name = blobs[2], .content = manifest},
		{.name = "index.json", .content = index},
		{.name = "manifest.json", .content = "[]"},
		{.name = "./oci-layout", .content = "{\"imageLayoutVersion\": \"1.0.0\"}"},
	};
	layout_maker_open(&maker);
	for (int compressed = 0; compressed <= layout_can_compress(); compressed++) {
		char *path CLEANUP_FREE = layout_pack(&maker, compressed ? "a.tar.gz" : "a.tar",
						      files, ARRAY_SIZE(files), compressed);
		char *string CLEANUP_FREE = text_format(
			"docker-archive:%s%s", path, compressed ? "" : ":docker.io/library/tool:1");
		UNIT_INT(image_source_open(string, NULL, &source, &err), 0);
		UNIT_INT(image_source_load(source, NULL, &image, &err), 0);
		UNIT_STRING(err.text, "");
		UNIT_INT(image.layer_count, 1);
		read_layer(source, &image.layers[0], "the layer");
		image_free(&image);
		image_source_close(&source);
		char *other CLEANUP_FREE = text_format("docker-archive:%s:tool:2", path);
		expect_failure(other, NULL, ERROR_NOT_FOUND, "names: docker.io/library/tool:1");
	}
	/* Without a layout: what older versions wrote. */
	char *old CLEANUP_FREE = layout_pack(&maker, "old.tar", files, 5, false);
	char *old_string CLEANUP_FREE = text_format("docker-archive:%s", old);
	expect_failure(old_string, NULL, ERROR_UNSUPPORTED, "skopeo copy docker-archive:");
	for (size_t i = 0; i < ARRAY_SIZE(blobs); i++)
		free(blobs[i]);
	layout_maker_close(&maker);
}

static void test_oci_archive(void)
{
	struct layout_maker maker;
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	const struct image_index *index = NULL;
	struct error err = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	layout_maker_open(&maker);
	digest_bytes("{}", 2, digest);
	char *blob CLEANUP_FREE = text_format("blobs/sha256/%s", digest + sizeof("sha256"));
	char *text CLEANUP_FREE = text_format("{\"manifests\": [{\"mediaType\": \"" OCI_MANIFEST
					      "\", \"digest\": \"%s\", \"size\": 2}]}",
					      digest);
	const struct tar_file files[] = {
		{.name = "oci-layout", .content = "{\"imageLayoutVersion\": \"1.0.0\"}"},
		{.name = "index.json", .content = text},
		{.name = blob, .content = "{}"},
	};
	char *path CLEANUP_FREE = layout_pack(&maker, "a.tar", files, ARRAY_SIZE(files), false);
	char *string CLEANUP_FREE = text_format("oci-archive:%s", path);
	UNIT_INT(image_source_open(string, NULL, &source, &err), 0);
	UNIT_INT(image_source_index(source, &index, &err), 0);
	UNIT_INT(index->count, 1);
	const struct image_descriptor what = {"", digest, 2, NULL};
	read_layer(source, &what, "{}");
	expect_failure(string, NULL, ERROR_FORMAT, "config: missing");
	char *short_path CLEANUP_FREE = layout_pack(&maker, "b.tar", files, 2, false);
	char *short_string CLEANUP_FREE = text_format("oci-archive:%s", short_path);
	expect_failure(short_string, NULL, ERROR_NOT_FOUND, " is not in ");
	layout_maker_close(&maker);
}

static void test_hostile_archives(void)
{
	struct layout_maker maker;
	layout_maker_open(&maker);
	static const struct tar_file cases[][2] = {
		{{.name = "other", .content = "x"}, {.name = "more", .content = "x"}},
		{{.name = "oci-layout", .link = "oci-layout"}, {.name = "x", .content = "x"}},
		{{.name = "oci-layout", .link = "/etc/passwd"}, {.name = "x", .content = "x"}},
		{{.name = "x", .content = "{\"imageLayoutVersion\": \"1.0.0\"}"},
		 {.name = "oci-layout", .hardlink = "x"}},
		{{.name = "oci-layout", .content = "{\"imageLayoutVersion\": \"1.0.0\"}"},
		 {.name = "index.json", .link = "../../etc/passwd"}},
		{{.name = "../oci-layout", .content = "{\"imageLayoutVersion\": \"1.0.0\"}"},
		 {.name = "x", .content = "x"}},
	};
	static const char *const parts[] = {
		"no file \"oci-layout\"", "no file \"oci-layout\"", "no file \"oci-layout\"",
		"no file \"oci-layout\"", "has no file index.json", "no file \"oci-layout\"",
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *path CLEANUP_FREE = layout_pack(&maker, "a.tar", cases[i], 2, false);
		char *string CLEANUP_FREE = text_format("docker-archive:%s", path);
		struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
		struct error err = {0};
		CU_ASSERT_TRUE(image_source_open(string, NULL, &source, &err) < 0);
		UNIT_CONTAINS(err.text, parts[i]);
	}
	layout_write(&maker, "text", "not a tar file, and long enough to be looked at as one");
	char *text CLEANUP_FREE = text_format("oci-archive:%s/text", maker.directory);
	expect_failure(text, NULL, ERROR_FORMAT, "text: ");
	expect_failure("oci-archive:/nonexistent", NULL, ERROR_NOT_FOUND, "/nonexistent");
	layout_maker_close(&maker);
}

/* containerd's store without its CRI: by digest. */
static void test_containerd_digest(void)
{
	struct layout_maker maker;
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct error err = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	size_t size = 0;
	layout_maker_open(&maker);
	layout_add_image(&maker, linux_configuration, "the layer", digest, &size);
	char *from CLEANUP_FREE = path_join(maker.directory, "blobs");
	char *folder CLEANUP_FREE = path_join(maker.directory, "io.containerd.content.v1.content");
	char *to CLEANUP_FREE = path_join(folder, "blobs");
	UNIT_INT(file_make_directories(folder, 0755, &err), 0);
	UNIT_INT(rename(from, to), 0);
	char *string CLEANUP_FREE = text_format("containerd:%s", digest);
	const struct image_source_options options = {.containerd_root = maker.directory,
						     .containerd_address = "unix:///nonexistent"};
	UNIT_INT(image_source_open(string, &options, &source, &err), 0);
	UNIT_INT(image_source_load(source, &linux_amd64, &image, &err), 0);
	UNIT_STRING(err.text, "");
	read_layer(source, &image.layers[0], "the layer");
	image_source_close(&source);
	CU_ASSERT_TRUE(image_source_open("containerd:tool", &options, &source, &err) < 0);
	UNIT_CONTAINS(err.text, "unix:///nonexistent");
	layout_maker_close(&maker);
}

UNIT_MAIN("image source", {"a layout", test_layout},
	  {"tags and platforms", test_tags_and_platforms}, {"damage", test_damage},
	  {"hostile indexes", test_hostile_indexes}, {"artifacts", test_artifact},
	  {"docker archives", test_docker_archive}, {"OCI archives", test_oci_archive},
	  {"hostile archives", test_hostile_archives},
	  {"containerd by digest", test_containerd_digest})
