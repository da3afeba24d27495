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
	return rig_open_script(rig, "containers/registry/doubles/registry_rig.mjs");
}

int rig_open_script(struct rig *rig, const char *script)
{
	enum { START_TIMEOUT_MS = 120000 };
	*rig = (struct rig){0};
	if (lacks("docker-registry") || lacks("node") || lacks("openssl"))
		return 77;
	if (loop_open(&rig->loop, NULL) < 0 ||
	    file_make_temporary(NULL, "gpucert-test-", &rig->directory, NULL) < 0)
		return 1;
	char *path CLEANUP_FREE = path_join(GPUCERT_SOURCE_DIR, script);
	const char *argv[] = {"node", path, rig->directory, NULL};
	const struct process_spec spec = {
		.argv = argv, .on_line = on_line, .on_end = on_end, .user = rig};
	struct error err = {0};
	rig->ca_certificate = path_join(rig->directory, "ca.crt");
	rig->clock = (struct http_clock){clock_now, clock_wait, &rig->time};
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
	UNIT_INT(registry_open(host, name, true, options, &registry, &err), 0);
	UNIT_INT(registry_push_blob(registry, configuration, strlen(configuration), config, NULL,
				    &err),
		 0);
	UNIT_INT(registry_push_blob(registry, layer->data, layer->size, content, NULL, &err), 0);
	char *manifest CLEANUP_FREE = text_format(
		"{\"schemaVersion\": 2, \"mediaType\": \"" OCI_MANIFEST "\", \"config\": "
		"{\"mediaType\": \"application/vnd.oci.image.config.v1+json\", \"digest\": \"%s\", "
		"\"size\": %zu}, \"layers\": [{\"mediaType\": "
		"\"application/vnd.oci.image.layer.v1.tar\", \"digest\": \"%s\", \"size\": %zu}]}",
		config, strlen(configuration), content, layer->size);
	UNIT_INT(registry_push_manifest(registry, tag, OCI_MANIFEST, manifest, strlen(manifest),
					digest, &err),
		 0);
	UNIT_STRING(err.text, "");
}
