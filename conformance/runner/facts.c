/* SPDX-License-Identifier: MIT */
#include "conformance/runner/facts.h"

#include "base/cleanup.h"
#include "base/cpu_level.h"
#include "base/json_members.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/offers.h"
#include "containers/runtime/identity.h"

#include <string.h>

#define FACTS_FILE "facts.json"
#define NO_RULES_FOR_WINE                                                                          \
	"on the Wine node Linux containers stand for Windows ones: no rule is about them"

/* facts.json: what is known of the image, and three documents that have readers of their own. */
struct facts_file {
	const char *unknown, *unread, *reference, *digest;
	enum compat_runtime runtime;
	const cJSON *host, *configuration, *contents;
};

#define STRING(key, member) JSON_TEXT(struct facts_file, key, member, JSON_WRITTEN, NULL)
#define DOCUMENT(key_, member)                                                                     \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_ANY, JSON_AT(struct facts_file, member)         \
	}

static const struct json_member facts_members[] = {
	STRING("unknown", unknown),
	STRING("unread", unread),
	STRING("reference", reference),
	STRING("digest", digest),
	{.key = "runtime",
	 .type = JSON_MEMBER_CHOICE,
	 JSON_AT(struct facts_file, runtime),
	 .names = compat_runtime_names},
	DOCUMENT("host", host),
	DOCUMENT("configuration", configuration),
	DOCUMENT("contents", contents),
	{0},
};

void facts_free(struct facts *facts)
{
	host_facts_free(&facts->host);
	image_free(&facts->image);
	image_contents_free(&facts->contents);
	arena_free(&facts->arena);
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

int facts_write(struct workplace *workplace, const struct discovery_snapshot *node,
		struct error *err)
{
	char *path CLEANUP_FREE = path_join(workplace->run_directory, FACTS_FILE);
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	cJSON *host_json CLEANUP_JSON = NULL;
	cJSON *configuration CLEANUP_JSON = NULL;
	cJSON *contents CLEANUP_JSON = NULL;
	struct facts_file file = {.unknown = "", .unread = "", .reference = "", .digest = ""};
	struct error why = {0};

	if (workplace->runtime == NULL) {
		file.unknown = "no containers are launched";
	} else if (workplace->wine.directory != NULL) {
		file.unknown = NO_RULES_FOR_WINE;
	} else if (host_facts_of_node(node, &host, &why) < 0 ||
		   (configuration = read_configuration(workplace, &why)) == NULL) {
		file.unknown = why.text;
	} else {
		const struct runtime_description *runtime = runtime_describe(workplace->runtime);
		host.cpu_level = cpu_level();
		host_json = host_facts_to_json(&host);
		if (read_layers(workplace, &contents, &why) < 0)
			file.unread = why.text;
		file.reference = workplace->images.probe.reference;
		file.digest = workplace->images.probe.digest;
		file.runtime = facts_runtime(runtime->name, runtime->version);
		file.host = host_json;
		file.configuration = configuration;
		file.contents = contents;
	}

	cJSON *json CLEANUP_JSON = json_members_write(facts_members, &file);
	return json_write_file(path, json, err);
}

int facts_read(const char *run_directory, struct facts *out, struct error *err)
{
	char *path CLEANUP_FREE = path_join(run_directory, FACTS_FILE);
	cJSON *document CLEANUP_JSON = NULL;
	struct facts_file file = {0};
	*out = (struct facts){.image.artifact_type = ""};

	int rc = json_read_file(path, &document, err);
	if (rc < 0)
		return rc;
	struct json_at root = json_root(document);
	rc = json_members_read(&root, facts_members, &file, &out->arena, err);
	out->unknown = file.unknown;
	out->unread = file.unread;
	out->runtime = file.runtime;
	if (rc == 0 && out->unknown[0] == '\0') {
		struct json_at contents = {
			.node = file.contents, .parent = &root, .key = "contents"};
		rc = host_facts_from_json(file.host, &out->host, err);
		if (rc == 0)
			rc = image_configuration_read(file.configuration, &out->image, err);
		if (rc == 0 && contents.node != NULL)
			rc = image_contents_parse(&contents, &out->contents, err);
		out->image.reference = file.reference;
		out->image.digest = file.digest;
	}
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

const struct image_contents *facts_contents(const struct facts *facts)
{
	return facts->unread[0] == '\0' ? &facts->contents : NULL;
}
