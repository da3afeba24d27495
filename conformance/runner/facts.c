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
#define NO_RULES_FOR_WINE                                                                          \
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

/* The image's configuration, as the CRI reports it. NULL: `why` has the reason. */
static cJSON *read_configuration(const struct workplace *workplace, struct error *why)
{
	const char *reference = workplace->images.probe.reference;
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	if (cri_image_status_wait(runtime_cri(workplace->runtime), reference, true, &reply, why) <
	    0)
		return NULL;

	cJSON *configuration = workplace_image_spec(reply);
	if (configuration == NULL)
		(void)error_set(why, ERROR_NOT_FOUND,
				"the container runtime does not report the image's configuration");
	return configuration;
}

/* The layers, as containerd has stored them. */
static int read_layers(struct workplace *workplace, cJSON **out, struct error *err)
{
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
	if (!OFFERS_CONTENTS)
		return error_set(err, ERROR_UNSUPPORTED, "layers are read on Linux only");

	char *root CLEANUP_FREE = runtime_root(workplace->runtime);
	char *name CLEANUP_FREE = text_format("containerd:%s", workplace->images.probe.reference);
	const struct image_source_options options = {
		.no_cache = true,
		.containerd_root = root,
		.containerd_address = runtime_describe(workplace->runtime)->address,
	};
	int rc = image_source_open(name, &options, &source, err);
	if (rc == 0)
		rc = image_source_load(source, NULL, &image, err);
	if (rc == 0)
		rc = image_contents_read(source, &image, NULL, NULL, &contents, err);
	if (rc == 0)
		*out = image_contents_json(&contents);
	return rc;
}

/* Adds the host and the image; false with `why`: nothing can be predicted. */
static bool add_facts(struct workplace *workplace, const struct discovery_snapshot *node,
		      struct members *facts, struct error *why)
{
	const struct runtime_description *runtime = runtime_describe(workplace->runtime);
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	cJSON *contents = NULL;

	if (host_facts_of_node(node, &host, why) < 0)
		return false;
	host.cpu_level = cpu_level();
	member_item(facts, "host", host_facts_to_json(&host));

	cJSON *configuration = read_configuration(workplace, why);
	if (configuration == NULL)
		return false;
	member_item(facts, "configuration", configuration);
	member_string(facts, "reference", workplace->images.probe.reference);
	member_string(facts, "digest", workplace->images.probe.digest);
	member_string(facts, "runtime",
		      compat_runtime_names[facts_runtime(runtime->name, runtime->version)]);
	if (read_layers(workplace, &contents, why) == 0)
		member_item(facts, "contents", contents);
	else
		member_string(facts, "unread", why->text);
	return true;
}

int facts_write(struct workplace *workplace, const struct discovery_snapshot *node,
		struct error *err)
{
	struct members facts CLEANUP_MEMBERS = members_new();
	char *path CLEANUP_FREE = path_join(workplace->run_directory, FACTS_FILE);
	const char *unknown = "";
	struct error why = {0};

	if (workplace->runtime == NULL)
		unknown = "no containers are launched";
	else if (workplace->wine.directory != NULL)
		unknown = NO_RULES_FOR_WINE;
	else if (!add_facts(workplace, node, &facts, &why))
		unknown = why.text;
	member_string(&facts, "unknown", unknown);

	cJSON *json CLEANUP_JSON = members_take(&facts);
	return json_write_file(path, json, err);
}

int facts_read(const char *run_directory, struct facts *out, struct error *err)
{
	char *path CLEANUP_FREE = path_join(run_directory, FACTS_FILE);
	struct json_at host = {0};
	struct json_at configuration = {0};
	struct json_at contents = {0};
	const char *runtime = "";
	*out = (struct facts){.unread = "", .image.artifact_type = ""};

	int rc = json_read_file(path, &out->document, err);
	if (rc < 0)
		return rc;
	struct json_at root = json_root(out->document);
	rc = json_need_string(&root, "unknown", &out->unknown, err);
	if (rc == 0)
		rc = json_have_string(&root, "unread", &out->unread, err);
	if (rc == 0 && out->unknown[0] != '\0')
		return 0;

	if (rc == 0)
		rc = json_need(&root, "host", JSON_OBJECT, &host, err);
	if (rc == 0)
		rc = host_facts_from_json(host.node, &out->host, err);
	if (rc == 0)
		rc = json_need_string(&root, "reference", &out->image.reference, err);
	if (rc == 0)
		rc = json_need_string(&root, "digest", &out->image.digest, err);
	if (rc == 0)
		rc = json_need_string(&root, "runtime", &runtime, err);
	if (rc == 0)
		rc = json_need(&root, "configuration", JSON_OBJECT, &configuration, err);
	if (rc == 0)
		rc = image_configuration_read(configuration.node, &out->image, err);
	if (rc == 0)
		rc = json_have(&root, "contents", JSON_OBJECT, &contents, err);
	if (rc == 0 && contents.node != NULL)
		rc = image_contents_parse(&contents, &out->contents, err);
	out->runtime = (enum compat_runtime)text_position(compat_runtime_names, runtime);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

const struct image_contents *facts_contents(const struct facts *facts)
{
	return cJSON_HasObjectItem(facts->document, "contents") ? &facts->contents : NULL;
}
