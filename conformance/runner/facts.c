/* SPDX-License-Identifier: MIT */
#include "conformance/runner/facts.h"

#include "base/cleanup.h"
#include "base/cpu_level.h"
#include "base/json.h"
#include "base/members.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/offers.h"
#include "containers/runtime/identity.h"

#include <string.h>

#define FACTS_FILE "facts.json"
#define UNTOLD_WINE                                                                                \
	"on the Wine node Linux containers stand for Windows ones: no rule is about them"

void facts_free(struct facts *facts)
{
	host_facts_free(&facts->host);
	image_free(&facts->image);
	image_contents_free(&facts->contents);
	cJSON_Delete(facts->document);
	*facts = (struct facts){0};
}

enum compat_runtime facts_runtime(const char *name, const char *version)
{
	if (!text_equal(name, "containerd"))
		return COMPAT_RUNTIME_ANY;
	version += *version == 'v';
	if (version_compare(version, "2.0") < 0)
		return COMPAT_CONTAINERD_17;
	return version_compare(version, "2.2") < 0 ? COMPAT_CONTAINERD_20 : COMPAT_CONTAINERD_2X;
}

/* The image's configuration, as the CRI tells it. */
static cJSON *find_configuration(const Runtime__V1__ImageStatusResponse *status)
{
	for (size_t i = 0; i < status->n_info; i++) {
		const char *text = status->info[i]->value;
		cJSON *info CLEANUP_JSON = NULL;
		if (json_parse(text, strlen(text), &info, NULL) == 0 &&
		    cJSON_HasObjectItem(info, "imageSpec"))
			return cJSON_DetachItemFromObjectCaseSensitive(info, "imageSpec");
	}
	return NULL;
}

/* NULL: `why` tells. */
static cJSON *read_configuration(const struct workplace *workplace, struct error *why)
{
	const char *reference = workplace->images.probe.reference;
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	if (cri_image_status_wait(runtime_cri(workplace->runtime), reference, true, &reply, why) <
	    0)
		return NULL;
	cJSON *configuration = find_configuration(reply);
	if (configuration == NULL)
		(void)error_set(why, ERROR_NOT_FOUND,
				"the container runtime does not tell the image's configuration");
	return configuration;
}

/* The layers, as containerd has stored them. */
static int read_layers(struct workplace *workplace, cJSON **out, struct error *err)
{
	const struct runtime_description *runtime = runtime_describe(workplace->runtime);
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
	char *root CLEANUP_FREE = runtime_root(workplace->runtime);
	char *name CLEANUP_FREE = text_format("containerd:%s", workplace->images.probe.reference);
	const struct image_source_options options = {
		.no_cache = true, .containerd_root = root, .containerd_address = runtime->address};
	if (!OFFERS_CONTENTS)
		return error_set(err, ERROR_UNSUPPORTED, "layers are read on Linux only");
	int rc = name != NULL ? image_source_open(name, &options, &source, err) : error_memory(err);
	if (rc == 0)
		rc = image_source_load(source, NULL, &image, err);
	if (rc == 0)
		rc = image_contents_read(source, &image, NULL, NULL, &contents, err);
	if (rc == 0)
		*out = image_contents_json(&contents);
	return rc == 0 && *out == NULL ? error_memory(err) : rc;
}

static int add_host(const struct discovery_snapshot *node, struct members *facts, struct error *err)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	int rc = host_facts_of_node(node, &host, err);
	host.cpu_level = cpu_level();
	if (rc == 0)
		member_item(facts, "host", host_facts_to_json(&host));
	return rc;
}

static void add_image(struct workplace *workplace, struct members *facts)
{
	const struct runtime_description *runtime = runtime_describe(workplace->runtime);
	struct error why = {0};
	cJSON *contents = NULL;
	cJSON *configuration = read_configuration(workplace, &why);
	member_string(facts, "untold", configuration != NULL ? "" : why.text);
	if (configuration == NULL)
		return;
	member_item(facts, "configuration", configuration);
	member_string(facts, "reference", workplace->images.probe.reference);
	member_string(facts, "digest", workplace->images.probe.digest);
	member_string(facts, "runtime",
		      compat_runtime_names[facts_runtime(runtime->name, runtime->version)]);
	if (read_layers(workplace, &contents, &why) == 0)
		member_item(facts, "contents", contents);
	else
		member_string(facts, "unread", why.text);
}

int facts_write(struct workplace *workplace, const struct discovery_snapshot *node,
		struct error *err)
{
	struct members facts CLEANUP_MEMBERS = members_new();
	char *path CLEANUP_FREE = path_join(workplace->run_directory, FACTS_FILE);
	struct error why = {0};
	if (path == NULL)
		return error_memory(err);
	if (workplace->runtime == NULL)
		member_string(&facts, "untold", "no containers are launched");
	else if (workplace->wine.directory != NULL)
		member_string(&facts, "untold", UNTOLD_WINE);
	else if (add_host(node, &facts, &why) < 0)
		member_string(&facts, "untold", why.text);
	else
		add_image(workplace, &facts);
	cJSON *json CLEANUP_JSON = members_take(&facts);
	return json != NULL ? json_write_file(path, json, err) : error_memory(err);
}

static int parse_host(const cJSON *host, struct host_facts *out, struct error *err)
{
	char *text CLEANUP_FREE = host != NULL ? json_print_compact(host) : NULL;
	return text != NULL ? host_facts_parse(text, strlen(text), out, err) : error_memory(err);
}

static int parse_image(const struct json_at *root, struct facts *out, struct error *err)
{
	const char *runtime = "";
	struct json_at contents = {0};
	struct json_at configuration = {0};
	out->image.artifact_type = "";
	int rc = json_need_string(root, "reference", &out->image.reference, err);
	if (rc == 0)
		rc = json_need_string(root, "digest", &out->image.digest, err);
	if (rc == 0)
		rc = json_need_string(root, "runtime", &runtime, err);
	if (rc == 0)
		rc = json_need(root, "configuration", JSON_OBJECT, &configuration, err);
	if (rc == 0)
		rc = image_configuration_read(configuration.node, &out->image, err);
	if (rc == 0)
		rc = json_have(root, "contents", JSON_OBJECT, &contents, err);
	out->runtime = (enum compat_runtime)text_position(compat_runtime_names, runtime);
	return rc == 0 && contents.node != NULL
		       ? image_contents_parse(&contents, &out->contents, err)
		       : rc;
}

int facts_read(const char *run_directory, struct facts *out, struct error *err)
{
	char *path CLEANUP_FREE = path_join(run_directory, FACTS_FILE);
	*out = (struct facts){.unread = ""};
	int rc = path != NULL ? json_read_file(path, &out->document, err) : error_memory(err);
	struct json_at root = json_root(out->document);
	if (rc == 0)
		rc = json_need_string(&root, "untold", &out->untold, err);
	if (rc == 0)
		rc = json_have_string(&root, "unread", &out->unread, err);
	if (rc < 0 || out->untold[0] != '\0')
		return rc;
	rc = parse_host(cJSON_GetObjectItemCaseSensitive(out->document, "host"), &out->host, err);
	if (rc == 0)
		rc = parse_image(&root, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

const struct image_contents *facts_contents(const struct facts *facts)
{
	return cJSON_HasObjectItem(facts->document, "contents") ? &facts->contents : NULL;
}
