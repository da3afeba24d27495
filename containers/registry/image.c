/* SPDX-License-Identifier: MIT */
#include "containers/registry/image.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <string.h>

/* Of one document; indexes with one entry for each of some hundred platforms exist. */
enum { ENTRIES_MAX = 10000, PAIRS_MAX = 10000, WORDS_MAX = 10000, FEATURES_MAX = 1000 };

#define SIZE_LIMIT	(INT64_C(1) << 50)
#define OCI_INDEX	"application/vnd.oci.image.index.v1+json"
#define OCI_MANIFEST	"application/vnd.oci.image.manifest.v1+json"
#define DOCKER_INDEX	"application/vnd.docker.distribution.manifest.list.v2+json"
#define DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define DOCKER_SCHEMA_1 "application/vnd.docker.distribution.manifest.v1"

const char image_media_types[] = OCI_INDEX ", " DOCKER_INDEX ", " OCI_MANIFEST ", " DOCKER_MANIFEST;

void image_free(struct image *image)
{
	arena_free(&image->arena);
	*image = (struct image){0};
}

void image_index_free(struct image_index *index)
{
	arena_free(&index->arena);
	*index = (struct image_index){0};
}

const char *image_pair_value(const struct image_pair *pairs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(pairs[i].name, name) == 0)
			return pairs[i].value;
	}
	return NULL;
}

bool image_media_type_is_index(const char *media_type)
{
	return strcmp(media_type, OCI_INDEX) == 0 || strcmp(media_type, DOCKER_INDEX) == 0;
}

bool image_media_type_is_manifest(const char *media_type)
{
	return strcmp(media_type, OCI_MANIFEST) == 0 || strcmp(media_type, DOCKER_MANIFEST) == 0;
}

/* A value takes two bytes of JSON and a hundred of memory. */
static size_t count_values(const char *data, size_t size)
{
	size_t count = 0;
	for (size_t i = 0; i < size; i++)
		count += data[i] == ',' || data[i] == '[' || data[i] == '{';
	return count;
}

int image_document_parse(const char *data, size_t size, cJSON **out, struct error *err)
{
	if (size > IMAGE_DOCUMENT_MAX)
		return error_set(err, ERROR_LIMIT, "longer than %d bytes", IMAGE_DOCUMENT_MAX);
	if (count_values(data, size) > IMAGE_VALUES_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d values", IMAGE_VALUES_MAX);
	return json_parse(data, size, out, err);
}

static bool has(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

static const char *type_by_members(bool is_index, bool is_manifest)
{
	return is_index ? OCI_INDEX : is_manifest ? OCI_MANIFEST : "";
}

int image_document_type(const cJSON *document, const char *told, const char **out,
			struct error *err)
{
	struct json_at root = json_root(document);
	const char *type = NULL;
	if (!cJSON_IsObject(document))
		return error_set(err, ERROR_FORMAT, "not a JSON object");
	bool is_index = has(document, "manifests");
	bool is_manifest = has(document, "layers");
	if (is_index && is_manifest)
		return error_set(err, ERROR_FORMAT, "both an index and a manifest");
	int rc = json_have_string(&root, "mediaType", &type, err);
	if (rc < 0)
		return rc;
	if (type == NULL && told != NULL &&
	    (image_media_type_is_index(told) || image_media_type_is_manifest(told) ||
	     text_starts_with(told, DOCKER_SCHEMA_1)))
		type = told;
	if (type == NULL)
		type = type_by_members(is_index, is_manifest);
	if (text_starts_with(type, DOCKER_SCHEMA_1) || has(document, "fsLayers"))
		return error_set(err, ERROR_UNSUPPORTED,
				 "a manifest of Docker's schema 1; push the image again with a "
				 "current tool");
	if (!image_media_type_is_index(type) && !image_media_type_is_manifest(type))
		return error_set(err, ERROR_UNSUPPORTED,
				 "neither an index nor a manifest of an image (mediaType \"%s\")",
				 type);
	if (image_media_type_is_index(type) ? is_manifest : is_index)
		return error_set(err, ERROR_FORMAT, "contradicts its media type %s", type);
	*out = type;
	return 0;
}

static int check_digest(const struct json_at *at, struct error *err)
{
	return digest_is_valid(at->node->valuestring)
		       ? 0
		       : json_error(at, err, "not a digest of SHA-256 or SHA-512");
}

#define COUNTED(structure, member, counter, most)                                                  \
	.offset = offsetof(structure, member), .size = sizeof(*((structure *)0)->member),          \
	.count = offsetof(structure, counter), .max = (most)

#define PLATFORM(member) JSON_AT(struct image_platform, member)
/* Of a descriptor's "platform" or of an image configuration: the members are the same. */
static const struct json_member platform_members[] = {
	{"os", JSON_MEMBER_STRING, JSON_OPTIONAL, PLATFORM(os)},
	{"architecture", JSON_MEMBER_STRING, JSON_OPTIONAL, PLATFORM(architecture)},
	{"variant", JSON_MEMBER_STRING, JSON_OPTIONAL, PLATFORM(variant)},
	{"os.version", JSON_MEMBER_STRING, JSON_OPTIONAL, PLATFORM(os_version)},
	{"os.features", JSON_MEMBER_NAMES, JSON_OPTIONAL, PLATFORM(os_features),
	 .max = FEATURES_MAX, .what = "a feature"},
	JSON_OTHERS,
};

#define DESCRIPTOR(member) JSON_AT(struct image_descriptor, member)
static const struct json_member descriptor_members[] = {
	{"mediaType", JSON_MEMBER_STRING, JSON_REQUIRED, DESCRIPTOR(media_type)},
	{"digest", JSON_MEMBER_STRING, JSON_REQUIRED, DESCRIPTOR(digest), .check = check_digest},
	{"size", JSON_MEMBER_INT, JSON_REQUIRED, DESCRIPTOR(size), .max = SIZE_LIMIT},
	JSON_OTHERS,
};

#define ENTRY(member) JSON_AT(struct image_index_entry, member)
static const struct json_member entry_members[] = {
	{"mediaType", JSON_MEMBER_STRING, JSON_REQUIRED, ENTRY(descriptor.media_type)},
	{"digest", JSON_MEMBER_STRING, JSON_REQUIRED, ENTRY(descriptor.digest),
	 .check = check_digest},
	{"size", JSON_MEMBER_INT, JSON_REQUIRED, ENTRY(descriptor.size), .max = SIZE_LIMIT},
	{"artifactType", JSON_MEMBER_STRING, JSON_OPTIONAL, ENTRY(artifact_type)},
	{"annotations", JSON_MEMBER_MAP, JSON_OPTIONAL,
	 COUNTED(struct image_index_entry, annotations, annotation_count, PAIRS_MAX)},
	{"platform", JSON_MEMBER_OBJECT, JSON_OPTIONAL, ENTRY(platform),
	 .members = platform_members},
	JSON_OTHERS,
};

static const struct json_member index_members[] = {
	{"manifests", JSON_MEMBER_OBJECTS, JSON_REQUIRED,
	 COUNTED(struct image_index, entries, count, ENTRIES_MAX), .members = entry_members},
	JSON_OTHERS,
};

static const struct json_member manifest_members[] = {
	{"artifactType", JSON_MEMBER_STRING, JSON_OPTIONAL, JSON_AT(struct image, artifact_type)},
	{"annotations", JSON_MEMBER_MAP, JSON_OPTIONAL,
	 COUNTED(struct image, annotations, annotation_count, PAIRS_MAX)},
	{"layers", JSON_MEMBER_OBJECTS, JSON_REQUIRED,
	 COUNTED(struct image, layers, layer_count, IMAGE_DOCUMENT_LAYERS_MAX),
	 .members = descriptor_members},
	JSON_OTHERS,
};

static const struct json_member label_members[] = {
	{"Labels", JSON_MEMBER_MAP, JSON_OPTIONAL,
	 COUNTED(struct image, labels, label_count, PAIRS_MAX)},
	JSON_OTHERS,
};

static void count_features(struct image_platform *platform)
{
	platform->os_feature_count = 0;
	while (platform->os_features[platform->os_feature_count] != NULL)
		platform->os_feature_count++;
}

int image_index_read(const cJSON *document, struct image_index *index, struct error *err)
{
	struct json_at root = json_root(document);
	struct image_index read = {0};
	int rc = json_members_read(&root, index_members, &read, &index->arena, err);
	if (rc < 0)
		return rc;
	if (index->count + read.count > ENTRIES_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d manifests", ENTRIES_MAX);
	for (size_t i = 0; i < read.count; i++) {
		struct image_index_entry *grown =
			arena_grow(&index->arena, index->entries, index->count, sizeof(*grown));
		if (grown == NULL)
			return error_memory(err);
		index->entries = grown;
		count_features(&read.entries[i].platform);
		grown[index->count++] = read.entries[i];
	}
	return 0;
}

static int read_words(const struct json_at *object, const char *key, struct arena *arena,
		      const char ***words, size_t *count, struct error *err)
{
	struct json_at list = {0};
	int rc = json_have(object, key, JSON_ARRAY, &list, err);
	if (rc == 0 && json_count(&list) > WORDS_MAX)
		rc = error_set(err, ERROR_LIMIT, "%s: more than %d", key, WORDS_MAX);
	if (rc < 0 || list.node == NULL)
		return rc;
	*words = arena_allocate(arena, json_count(&list) * sizeof(**words));
	json_each (item, list.node) {
		if (!cJSON_IsString(item))
			return json_error(&list, err, "expected strings");
		if (*words != NULL)
			(*words)[(*count)++] = arena_string(arena, item->valuestring);
	}
	return arena->failed ? error_memory(err) : 0;
}

static bool is_image_configuration(const char *media_type)
{
	return strcmp(media_type, "application/vnd.oci.image.config.v1+json") == 0 ||
	       strcmp(media_type, "application/vnd.docker.container.image.v1+json") == 0;
}

int image_manifest_read(const cJSON *document, struct image *image,
			struct image_descriptor *configuration, struct error *err)
{
	struct json_at root = json_root(document);
	struct json_at config = {0};
	int rc = json_need(&root, "config", JSON_OBJECT, &config, err);
	if (rc == 0)
		rc = json_members_read(&config, descriptor_members, configuration, &image->arena,
				       err);
	if (rc == 0)
		rc = json_members_read(&root, manifest_members, image, &image->arena, err);
	if (rc < 0)
		return rc;
	/* What a manifest says it is: OCI image-spec v1.1, manifest.md "artifactType". */
	if (is_image_configuration(configuration->media_type))
		image->artifact_type = "";
	else if (image->artifact_type[0] == '\0')
		image->artifact_type = configuration->media_type;
	return 0;
}

/* "NAME=value" of a configuration; a name alone is unset (config.md) and so an empty value. */
static int read_environment(const struct json_at *config, struct image *image, struct error *err)
{
	const char **words = NULL;
	size_t count = 0;
	int rc = read_words(config, "Env", &image->arena, &words, &count, err);
	if (rc < 0 || count == 0)
		return rc;
	image->environment = arena_allocate(&image->arena, count * sizeof(*image->environment));
	if (image->environment == NULL)
		return error_memory(err);
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(words[i], "=");
		image->environment[i] = (struct image_pair){
			.name = arena_format(&image->arena, "%.*s", (int)length, words[i]),
			.value = words[i][length] == '=' ? words[i] + length + 1 : "",
		};
	}
	image->environment_count = count;
	return 0;
}

int image_configuration_read(const cJSON *document, struct image *image, struct error *err)
{
	struct json_at root = json_root(document);
	struct json_at config = {0};
	int rc = json_members_read(&root, platform_members, &image->platform, &image->arena, err);
	if (rc < 0)
		return rc;
	count_features(&image->platform);
	rc = json_have(&root, "config", JSON_OBJECT, &config, err);
	if (rc < 0 || config.node == NULL)
		return rc;
	rc = json_members_read(&config, label_members, image, &image->arena, err);
	if (rc == 0)
		rc = read_environment(&config, image, err);
	if (rc == 0)
		rc = read_words(&config, "Entrypoint", &image->arena, &image->entrypoint,
				&image->entrypoint_count, err);
	if (rc == 0)
		rc = read_words(&config, "Cmd", &image->arena, &image->command,
				&image->command_count, err);
	return rc == 0 && image->arena.failed ? error_memory(err) : rc;
}
