/* SPDX-License-Identifier: MIT */
#include "containers/registry/tests/rig.h"

#include "base/json.h"
#include "base/process.h"
#include "rpc/loop.h"

static void on_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct rig *rig = user;
	if (!is_stderr && rig->ports == NULL)
		(void)json_parse(line, size, &rig->ports, NULL);
	else
		(void)printf("\nrig: %.*s\n", (int)size, line);
}

static void on_end(struct process *process, const struct process_result *result, void *user)
{
	struct rig *rig = user;
	(void)process;
	(void)result;
	rig->ended = true;
}

static bool is_settled(void *user)
{
	const struct rig *rig = user;
	return rig->ports != NULL || rig->ended;
}

static bool lacks(const char *program)
{
	char *found CLEANUP_FREE = NULL;
	return process_find_program(program, &found, NULL) < 0;
}

static uint64_t clock_now(void *user)
{
	return ((const struct fake_clock *)user)->now_ms;
}

static void clock_wait(uint64_t duration_ms, void *user)
{
	struct fake_clock *time = user;
	time->now_ms += duration_ms;
	if (time->count < WAITS_MAX)
		time->waits[time->count++] = duration_ms;
}

int rig_open(struct rig *rig)
{
	enum { START_TIMEOUT_MS = 120000 };
	*rig = (struct rig){0};
	if (lacks("docker-registry") || lacks("node") || lacks("openssl"))
		return 77;
	if (loop_open(&rig->loop, NULL) < 0 ||
	    file_make_temporary(NULL, "gpucert-test-", &rig->directory, NULL) < 0)
		return 1;
	const char *argv[] = {"node",
			      GPUCERT_SOURCE_DIR "/containers/registry/doubles/registry_rig.mjs",
			      rig->directory, NULL};
	const struct process_spec spec = {
		.argv = argv, .on_line = on_line, .on_end = on_end, .user = rig};
	struct error err = {0};
	rig->ca_certificate = path_join(rig->directory, "ca.crt");
	rig->clock = (struct registry_clock){clock_now, clock_wait, &rig->time};
	if (process_start(&rig->loop, &spec, &rig->process, &err) < 0 ||
	    loop_wait(&rig->loop, is_settled, rig, START_TIMEOUT_MS, "rig", &err) < 0 ||
	    rig->ports == NULL) {
		(void)printf("the rig does not start: %s\n", err.text);
		return 1;
	}
	return 0;
}

void rig_close(struct rig *rig)
{
	if (rig->directory == NULL)
		return;
	process_free(rig->process);
	(void)loop_drain(&rig->loop, 10000, NULL);
	(void)file_remove_tree(rig->directory, NULL);
	text_free(&rig->layer);
	cJSON_Delete(rig->ports);
	free(rig->directory);
	free(rig->ca_certificate);
}

char *rig_host(const struct rig *rig, const char *host, const char *port)
{
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(rig->ports, port);
	CU_ASSERT_PTR_NOT_NULL_FATAL(number);
	return text_format("%s:%d", host, number->valueint);
}

struct registry_options rig_options(struct rig *rig, bool tls)
{
	rig->time = (struct fake_clock){.now_ms = 1};
	return (struct registry_options){
		.plain_http = !tls,
		.ca_certificate = tls ? rig->ca_certificate : NULL,
		.stall_ms = 1500,
		.clock = &rig->clock,
	};
}

void rig_credentials(const struct rig *rig, const char *config)
{
	char *folder CLEANUP_FREE = path_join(rig->directory, "docker");
	char *path CLEANUP_FREE = path_join(folder, "config.json");
	CU_ASSERT_EQUAL_FATAL(file_remove_tree(folder, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_directories(folder, 0700, NULL), 0);
	if (config != NULL)
		CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, config, strlen(config), 0600, NULL),
				      0);
	CU_ASSERT_EQUAL_FATAL(setenv("DOCKER_CONFIG", folder, 1), 0);
}

char *rig_recorded(const struct rig *rig)
{
	char *path CLEANUP_FREE = path_join(rig->directory, "recorded");
	char *data = NULL;
	if (file_read(path, 1 << 20, &data, NULL, NULL) < 0)
		return strdup("");
	(void)remove(path);
	return data;
}

void rig_push_image(const struct registry_options *options, const char *host, const char *name,
		    const char *tag, const struct text *layer, char digest[DIGEST_TEXT_SIZE])
{
	static const char configuration[] = "{\"os\": \"linux\", \"architecture\": \"amd64\"}";
	struct registry *registry CLEANUP_REGISTRY = NULL;
	struct error err = {0};
	char config[DIGEST_TEXT_SIZE] = "";
	char content[DIGEST_TEXT_SIZE] = "";
	UNIT_INT(registry_open(host, options, &registry, &err), 0);
	UNIT_INT(registry_push_blob(registry, name, configuration, strlen(configuration), config,
				    &err),
		 0);
	UNIT_INT(registry_push_blob(registry, name, layer->data, layer->size, content, &err), 0);
	char *manifest CLEANUP_FREE = text_format(
		"{\"schemaVersion\": 2, \"mediaType\": \"" OCI_MANIFEST "\", \"config\": "
		"{\"mediaType\": \"application/vnd.oci.image.config.v1+json\", \"digest\": \"%s\", "
		"\"size\": %zu}, \"layers\": [{\"mediaType\": "
		"\"application/vnd.oci.image.layer.v1.tar\", \"digest\": \"%s\", \"size\": %zu}]}",
		config, strlen(configuration), content, layer->size);
	UNIT_INT(registry_push_manifest(registry, name, tag, OCI_MANIFEST, manifest,
					strlen(manifest), digest, &err),
		 0);
	UNIT_STRING(err.text, "");
}

void rig_push_tool(struct rig *rig)
{
	enum { LAYER_SIZE = 6000000 };
	uint32_t state = 1;
	char *bytes = text_extend(&rig->layer, LAYER_SIZE);
	for (size_t i = 0; i < LAYER_SIZE; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (char)(state >> 24);
	}
	struct registry_options options = rig_options(rig, false);
	char *host CLEANUP_FREE = rig_host(rig, "127.0.0.1", "plain");
	rig_credentials(rig, NULL);
	rig_push_image(&options, host, "tool", "1", &rig->layer, rig->digest);
}

/* Nothing that is secret is in an error. */
static void expect_no_secret(const char *text)
{
	static const char *const secrets[] = {"sesame", "YWxpY2U6b3BlbjpzZXNhbWU=", "refresh me",
					      "signature"};
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		CU_ASSERT_PTR_NULL(strstr(text, secrets[i]));
}

/* Loads the image and reads its layer, as far as that goes. */
int rig_read_image(struct rig *rig, const char *string, const struct image_source_options *options,
		   struct error *err)
{
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct image_stream *stream CLEANUP_IMAGE_STREAM = NULL;
	struct text all CLEANUP_TEXT = {0};
	char chunk[65536];
	size_t count = 0;
	int rc = image_source_open(string, options, &source, err);
	if (rc == 0)
		rc = image_source_load(source, NULL, &image, err);
	if (rc == 0)
		rc = image_source_open_layer(source, &image.layers[0], &stream, err);
	while (rc == 0 &&
	       (rc = image_stream_read(stream, chunk, sizeof(chunk), &count, err)) == 0 &&
	       count > 0)
		text_append(&all, chunk, count);
	if (rc == 0) {
		UNIT_STRING(image.platform.os, "linux");
		UNIT_INT(all.size, rig->layer.size);
		CU_ASSERT_EQUAL(memcmp(all.data, rig->layer.data, rig->layer.size), 0);
	}
	expect_no_secret(err->text);
	return rc;
}

int rig_read_from(struct rig *rig, const char *host, const char *port, const char *name, bool tls,
		  struct error *err)
{
	const struct image_source_options options = {.no_cache = true,
						     .registry = rig_options(rig, tls)};
	char *place CLEANUP_FREE = rig_host(rig, host, port);
	char *string CLEANUP_FREE = text_format("docker://%s/%s", place, name);
	*err = (struct error){0};
	return rig_read_image(rig, string, &options, err);
}
