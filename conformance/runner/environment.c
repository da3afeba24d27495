/* SPDX-License-Identifier: MIT */
#include "conformance/runner/environment_internal.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/os_version.h"
#include "base/path.h"
#include "containers/offers.h"
#include "containers/runtime/identity.h"

#include <string.h>

void environment_add_text(cJSON *object, const char *key, const char *value)
{
	if (value != NULL && value[0] != '\0')
		(void)cJSON_AddItemToObject(object, key, json_new_string(value, strlen(value)));
}

static bool environment_is_wine(const struct wine_node *wine)
{
	return OFFERS_WINE_NODE && wine->directory != NULL;
}

/* The machine that stands in for the node. */
static cJSON *environment_machine(void)
{
	cJSON *machine = cJSON_CreateObject();
	struct os_version version = {0};

	if (os_version_read(&version, NULL) < 0)
		return machine;
	environment_add_text(machine, "product", version.product);
	environment_add_text(machine, "kernel", version.kernel);
	environment_add_text(machine, "kernelBuild", version.kernel_build);
	environment_add_text(machine, "architecture", version.architecture);
	return machine;
}

static void environment_add_digest(cJSON *object, const char *key, const char *path)
{
	char digest[DIGEST_SIZE] = "";

	if (path != NULL && digest_file(path, digest, NULL, NULL) == 0)
		environment_add_text(object, key, digest);
}

/* Whether what the other sections say of a node is true of this machine. */
static cJSON *environment_node(const struct context *context, const struct wine_node *wine)
{
	cJSON *node = cJSON_CreateObject();
	const char *kind = "live";

	if (environment_is_wine(wine))
		kind = "wine";
	else if (context->node->recorded)
		kind = "recorded";
	environment_add_text(node, "kind", kind);
	if (strcmp(kind, "live") == 0)
		return node;
	if (environment_is_wine(wine)) {
		char *packages CLEANUP_FREE = path_join(wine->root, WINE_NODE_PACKAGES);

		environment_add_digest(node, "digest", packages);
	} else {
		environment_add_text(node, "file", path_base(context->node_file));
		environment_add_digest(node, "digest", context->node_file);
		environment_add_text(node, "recorded", context->node->recorded_at);
	}
	(void)cJSON_AddItemToObject(node, "machine", environment_machine());
	return node;
}

/* Never just the Windows that Wine says it is. NULL: out of memory. */
static char *environment_wine_product(const struct discovery_system *system,
				      const struct wine_node *wine)
{
	char *version CLEANUP_FREE = NULL;

	if (OFFERS_WINE_NODE && wine->directory != NULL)
		(void)wine_node_version(wine, &version, NULL);
	else
		version = strdup(system->emulator);
	return text_format("%s, Windows build reported %s%s", version != NULL ? version : "Wine",
			   text_starts_with(system->build, "10.0.") ? "" : "10.0.", system->build);
}

/* "20348.1547" */
static void environment_add_build(cJSON *os, const char *build)
{
	const char *dot = strrchr(build, '.');
	char *number CLEANUP_FREE = dot != NULL ? strndup(build, (size_t)(dot - build)) : NULL;

	environment_add_text(os, "build", dot != NULL ? number : build);
	environment_add_text(os, "revision", dot != NULL ? dot + 1 : NULL);
}

static cJSON *environment_os(const struct discovery_system *system, const struct wine_node *wine)
{
	cJSON *os = cJSON_CreateObject();
	char *product CLEANUP_FREE = wine->directory != NULL || system->emulator[0] != '\0'
					     ? environment_wine_product(system, wine)
					     : strdup(system->product);

	environment_add_text(os, "name", system->os);
	environment_add_text(os, "product", product);
	environment_add_text(os, "version", system->version);
	if (strcmp(system->os, "windows") == 0) {
		environment_add_build(os, system->build);
	} else {
		environment_add_text(os, "kernel", system->build);
		environment_add_text(os, "kernelBuild", system->kernel_build);
	}
	environment_add_text(os, "architecture", system->architecture);
	return os;
}

/* The digest of a file that is being read, or was. */
static void environment_add_result(cJSON *object, const char *key, const struct digest_job *job)
{
	environment_add_text(object, key, job != NULL ? digest_result(job) : NULL);
}

static const struct digest_job *environment_digest(struct environment *environment,
						   const char *path)
{
	const struct digest_job *job = NULL;

	if (path != NULL)
		(void)digests_add(environment->digests, path, &job, NULL);
	return job;
}

static int environment_runtime(struct environment *environment, const struct context *context,
			       const struct workplace *workplace, cJSON *runtime, struct error *err)
{
	const struct runtime_description *description = runtime_describe(workplace->runtime);
	struct runtime_identity identity CLEANUP_RUNTIME_IDENTITY = {0};
	const struct digest_job *program = NULL, *shim = NULL, *oci = NULL;
	int rc = runtime_identify(workplace->runtime, context->runtime_handler, &identity, err);

	if (rc < 0)
		return rc;
	program = environment_digest(environment, identity.file);
	shim = environment_digest(environment, identity.shim_file);
	oci = environment_digest(environment, identity.oci_file);
	digests_wait(environment->digests);
	environment_add_text(runtime, "name", description->name);
	environment_add_text(runtime, "version", description->version);
	environment_add_text(runtime, "apiVersion", description->api_version);
	environment_add_text(runtime, "snapshotter", description->snapshotter);
	(void)cJSON_AddBoolToObject(runtime, "private", description->is_private);
	environment_add_result(runtime, "binaryDigest", program);
	environment_add_text(runtime, "shim", identity.shim);
	environment_add_result(runtime, "shimDigest", shim);
	environment_add_text(runtime, "oci", identity.oci);
	environment_add_result(runtime, "ociDigest", oci);
	environment_add_text(runtime, "untold", identity.untold);
	return 0;
}

static cJSON *environment_images(const struct images *images)
{
	cJSON *array = cJSON_CreateArray();
	cJSON *image = NULL;

	if (images->probe.reference == NULL)
		return array;
	image = cJSON_CreateObject();
	environment_add_text(image, "ref", images->probe.reference);
	environment_add_text(image, "digest", images->probe.digest);
	environment_add_text(image, "osVersion", images->probe.os_version);
	(void)cJSON_AddItemToArray(array, image);
	return array;
}

static cJSON *environment_harness(const struct environment *environment)
{
	cJSON *harness = cJSON_CreateObject();

	environment_add_text(harness, "version", GPUCERT_VERSION);
	environment_add_result(harness, "binaryDigest", environment->harness);
	return harness;
}

/* The program that is the plugin: on the Wine node, what the relay runs. */
static int environment_identify_plugin(struct environment *environment,
				       const struct context *context, const struct wine_node *wine,
				       struct error *err)
{
	char *program CLEANUP_FREE = NULL;

	if (context->reference_plugin && environment_is_wine(wine)) {
		if (wine_node_program(wine, WINE_NODE_PLUGIN, &program, NULL) < 0)
			return 0;
		return plugin_identity_of_file(&environment->plugin, program, environment->digests,
					       err);
	}
	return plugin_identity_of_command(&environment->plugin, context->plugin_command,
					  environment->digests, err);
}

int environment_describe_plugin(struct environment *environment, const struct context *context,
				cJSON **out, struct error *err)
{
	cJSON *plugin = NULL;

	digests_wait(environment->digests);
	plugin = plugin_identity_json(&environment->plugin);
	if (plugin == NULL)
		return error_memory(err);
	if (context->reference_plugin)
		environment_add_text(plugin, "version", GPUCERT_VERSION);
	*out = plugin;
	return 0;
}

int environment_open(struct environment *environment, uv_loop_t *loop,
		     const struct discovery_snapshot *node, const struct wine_node *wine,
		     struct error *err)
{
	char *program CLEANUP_FREE = NULL;
	int rc = digests_new(loop, &environment->digests, err);

	environment->device_count = node->device_count;
	environment->device_files = calloc(node->device_count + 1, sizeof(struct digest_set));
	environment->driver_stores = calloc(node->device_count + 1, sizeof(struct digest_set));
	if (rc == 0 && (environment->device_files == NULL || environment->driver_stores == NULL))
		rc = error_memory(err);
	if (rc == 0 && OFFERS_WINE_NODE && wine != NULL)
		rc = wine_identity_read(wine, &environment->wine, err);
	for (size_t i = 0; rc == 0 && i < node->device_count; i++)
		rc = environment_begin_device(environment, i, node, wine, err);
	if (rc == 0 && path_of_program(&program, NULL) == 0)
		environment->harness = environment_digest(environment, program);
	return rc;
}

void environment_close(struct environment *environment)
{
	for (size_t i = 0; i < environment->device_count; i++) {
		if (environment->device_files != NULL)
			digest_set_free(&environment->device_files[i]);
		if (environment->driver_stores != NULL)
			digest_set_free(&environment->driver_stores[i]);
	}
	free(environment->device_files);
	free(environment->driver_stores);
	plugin_identity_free(&environment->plugin);
	if (OFFERS_WINE_NODE)
		wine_identity_free(&environment->wine);
	digests_free(environment->digests);
	*environment = (struct environment){0};
}

/* Adds a section; NULL is out of memory. */
static int environment_add(cJSON *environment, const char *name, cJSON *section, struct error *err)
{
	if (section != NULL && cJSON_AddItemToObject(environment, name, section))
		return 0;
	cJSON_Delete(section);
	return error_memory(err);
}

int environment_describe(struct environment *environment, const struct context *context,
			 const struct workplace *workplace, cJSON **out, struct error *err)
{
	cJSON *json CLEANUP_JSON = cJSON_CreateObject();
	cJSON *plugin = NULL;
	cJSON *runtime = NULL;
	int rc = environment_identify_plugin(environment, context, &workplace->wine, err);

	if (rc == 0 && workplace->runtime != NULL) {
		runtime = cJSON_AddObjectToObject(json, "runtime");
		rc = runtime != NULL
			     ? environment_runtime(environment, context, workplace, runtime, err)
			     : error_memory(err);
	}
	rc = rc == 0 ? environment_describe_plugin(environment, context, &plugin, err) : rc;
	rc = rc == 0 ? environment_add(json, "plugin", plugin, err) : rc;
	if (rc < 0)
		return rc;
	rc = environment_add(json, "node", environment_node(context, &workplace->wine), err);
	rc = rc == 0 ? environment_add(json, "os",
				       environment_os(&context->node->system, &workplace->wine),
				       err)
		     : rc;
	rc = rc == 0 ? environment_add(json, "drivers",
				       environment_drivers(environment, context->node), err)
		     : rc;
	rc = rc == 0 ? environment_add(json, "devices",
				       environment_devices(environment, context->node), err)
		     : rc;
	rc = rc == 0 ? environment_add(json, "images", environment_images(&workplace->images), err)
		     : rc;
	rc = rc == 0 ? environment_add(json, "harness", environment_harness(environment), err) : rc;
	if (rc == 0)
		*out = STEAL(json);
	return rc;
}
