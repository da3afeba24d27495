/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/cpu_level.h"
#include "base/path.h"
#include "base/version.h"
#include "conformance/runner/facts_internal.h"
#include "conformance/runner/workplace.h"
#include "containers/offers.h"
#include "containers/runtime/identity.h"

#define NO_RULES_FOR_WINE                                                                          \
	"on the Wine node Linux containers stand for Windows ones: no rule is about them"

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
		rc = image_contents_read(source, &image, NULL, &contents, err);
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
