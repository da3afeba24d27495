/* SPDX-License-Identifier: MIT */
#include "containers/registry/image.h"

#include "base/json_members.h"
#include "base/path.h"

#include <string.h>

/* Of one document; indexes with one entry for each of some hundred platforms exist. */
enum { ENTRIES_MAX = 10000, WORDS_MAX = 10000 };

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

const char *image_pair_value(const struct json_pair *pairs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (text_equal(pairs[i].name, name))
			return pairs[i].value;
	}
	return NULL;
}

void image_index_add(struct image_index *index, const struct image_index_entry *entry)
{
	index->entries =
		arena_grow(&index->arena, index->entries, index->count, sizeof(*index->entries));
	index->entries[index->count++] = *entry;
}

void image_descriptor_write(struct members *out, const char *media_type, const char *digest,
			    uint64_t size)
{
	member_string(out, "mediaType", media_type);
	member_string(out, "digest", digest);
	member_int(out, "size", (int64_t)size);
}

bool image_media_type_is_index(const char *media_type)
{
	return text_equal(media_type, OCI_INDEX) || text_equal(media_type, DOCKER_INDEX);
}

bool image_media_type_is_manifest(const char *media_type)
{
	return text_equal(media_type, OCI_MANIFEST) || text_equal(media_type, DOCKER_MANIFEST);
}

int image_document_parse(const char *data, size_t size, cJSON **out, struct error *err)
{
	size_t values = 0; /* a value takes two bytes of JSON but a hundred of memory */
	if (size > IMAGE_DOCUMENT_MAX)
		return error_set(err, ERROR_LIMIT, "longer than %d bytes", IMAGE_DOCUMENT_MAX);
	for (size_t i = 0; i < size; i++)
		values += data[i] == ',' || data[i] == '[' || data[i] == '{';
	if (values > IMAGE_VALUES_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d values", IMAGE_VALUES_MAX);
	return json_parse(data, size, out, err);
}

static bool has(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

int image_document_type(const cJSON *document, const char *promised, const char **out,
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
	if (type == NULL && promised != NULL &&
	    (image_media_type_is_index(promised) || image_media_type_is_manifest(promised) ||
	     text_starts_with(promised, DOCKER_SCHEMA_1)))
		type = promised;
	if (type == NULL && is_index)
		type = OCI_INDEX;
	else if (type == NULL)
		type = is_manifest ? OCI_MANIFEST : "";

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
	if (!digest_is_valid(at->node->valuestring))
		return json_error(at, err, "the digest is not one of SHA-256 or SHA-512");
	return 0;
}

/* Rows; `in` is where the structure holds a descriptor or a platform. */
#define STRING(structure, key, member) JSON_TEXT(structure, key, member, JSON_OPTIONAL, NULL)
#define STRINGS(structure, key_, items, count_)                                                    \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_STRINGS,                                        \
		JSON_COUNTED(structure, items, count_), .max = WORDS_MAX                           \
	}
#define PAIRS(structure, key_, items, count_)                                                      \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_MAP, JSON_COUNTED(structure, items, count_),    \
		.max = WORDS_MAX                                                                   \
	}
#define DESCRIPTOR(structure, in)                                                                  \
	JSON_TEXT(structure, "mediaType", in media_type, JSON_REQUIRED, NULL),                     \
		JSON_TEXT(structure, "digest", in digest, JSON_REQUIRED, check_digest),            \
		JSON_NUMBER(structure, "size", in size, JSON_REQUIRED, 0, INT64_C(1) << 50)
/* Of a descriptor's "platform" and of an image configuration. */
#define PLATFORM(structure, in)                                                                    \
	STRING(structure, "os", in os), STRING(structure, "architecture", in architecture),        \
		STRING(structure, "variant", in variant),                                          \
		STRING(structure, "os.version", in os_version)

static const struct json_member title_members[] = {
	STRING(struct image_descriptor, OCI_TITLE, title),
	JSON_END_OTHERS,
};

static const struct json_member descriptor_members[] = {
	DESCRIPTOR(struct image_descriptor, ),
	{.key = "annotations", .type = JSON_MEMBER_OBJECT, .members = title_members},
	JSON_END_OTHERS,
};

static const struct json_member platform_members[] = {
	PLATFORM(struct image_platform, ),
	JSON_END_OTHERS,
};

static const struct json_member entry_members[] = {
	DESCRIPTOR(struct image_index_entry, descriptor.),
	STRING(struct image_index_entry, "artifactType", artifact_type),
	{.key = "platform",
	 .type = JSON_MEMBER_OBJECT,
	 JSON_AT(struct image_index_entry, platform),
	 .members = platform_members},
	PAIRS(struct image_index_entry, "annotations", annotations, annotation_count),
	JSON_END_OTHERS,
};

static const struct json_member index_members[] = {
	JSON_LIST(struct image_index, "manifests", entries, count, JSON_REQUIRED, ENTRIES_MAX,
		  entry_members),
	JSON_END_OTHERS,
};

int image_index_read(const cJSON *document, struct image_index *index, struct error *err)
{
	struct json_at root = json_root(document);
	struct image_index read = {0};
	int rc = json_members_read(&root, index_members, &read, &index->arena, err);
	if (rc == 0 && index->count + read.count > ENTRIES_MAX)
		rc = error_set(err, ERROR_LIMIT, "more than %d manifests", ENTRIES_MAX);
	for (size_t i = 0; rc == 0 && i < read.count; i++)
		image_index_add(index, &read.entries[i]);
	return rc;
}

static const struct json_member manifest_members[] = {
	STRING(struct image, "artifactType", artifact_type),
	JSON_LIST(struct image, "layers", layers, layer_count, JSON_REQUIRED, IMAGE_LAYERS_MAX,
		  descriptor_members),
	PAIRS(struct image, "annotations", annotations, annotation_count),
	JSON_END_OTHERS,
};

static const struct json_member manifest_config_members[] = {
	{.key = "config",
	 .type = JSON_MEMBER_OBJECT,
	 .presence = JSON_REQUIRED,
	 .members = descriptor_members},
	JSON_END_OTHERS,
};

int image_manifest_read(const cJSON *document, struct image *image,
			struct image_descriptor *configuration, struct error *err)
{
	struct json_at root = json_root(document);
	int rc = json_members_read(&root, manifest_config_members, configuration, &image->arena,
				   err);
	if (rc == 0)
		rc = json_members_read(&root, manifest_members, image, &image->arena, err);
	if (rc < 0)
		return rc;

	/* Only a manifest without an image's configuration is an artifact (OCI image-spec v1.1, manifest.md
	 * "artifactType"). */
	const char *type = configuration->media_type;
	if (text_equal(type, "application/vnd.oci.image.config.v1+json") ||
	    text_equal(type, "application/vnd.docker.container.image.v1+json"))
		image->artifact_type = "";
	else if (image->artifact_type[0] == '\0')
		image->artifact_type = type;
	return 0;
}

/* "NAME=value"; a name alone is unset (config.md) and so an empty value. */
struct variables {
	const char *const *words;
	size_t count;
};

static const struct json_member variable_members[] = {
	STRINGS(struct variables, "Env", words, count),
	JSON_END_OTHERS,
};

static const struct json_member environment_members[] = {
	{.key = "config", .type = JSON_MEMBER_OBJECT, .members = variable_members},
	JSON_END_OTHERS,
};

static const struct json_member config_members[] = {
	PAIRS(struct image, "Labels", labels, label_count),
	STRINGS(struct image, "Entrypoint", entrypoint, entrypoint_count),
	STRINGS(struct image, "Cmd", command, command_count),
	JSON_END_OTHERS,
};

static const struct json_member configuration_members[] = {
	PLATFORM(struct image, platform.),
	{.key = "config", .type = JSON_MEMBER_OBJECT, .members = config_members},
	JSON_END_OTHERS,
};

int image_configuration_read(const cJSON *document, struct image *image, struct error *err)
{
	struct json_at root = json_root(document);
	struct variables variables = {0};
	struct arena *arena = &image->arena;
	int rc = json_members_read(&root, configuration_members, image, arena, err);
	if (rc == 0)
		rc = json_members_read(&root, environment_members, &variables, arena, err);
	if (rc < 0 || variables.count == 0)
		return rc;
	image->environment_count = variables.count;
	image->environment = arena_allocate(arena, variables.count * sizeof(*image->environment));
	for (size_t i = 0; i < variables.count; i++) {
		const char *word = variables.words[i];
		size_t length = strcspn(word, "=");
		image->environment[i] = (struct json_pair){
			.name = arena_format(arena, "%.*s", (int)length, word),
			.value = word[length] == '=' ? word + length + 1 : "",
		};
	}
	return 0;
}

const char *image_program(const struct image *image)
{
	if (image->entrypoint_count > 0)
		return image->entrypoint[0];
	return image->command_count > 0 ? image->command[0] : "";
}

/* In most images /bin is a link to /usr/bin. */
static const char *without_usr(const char *path)
{
	path += strspn(path, "/");
	return path + (text_starts_with(path, "usr/") ? strlen("usr/") : 0);
}

bool image_starts(const struct image *image, const char *path)
{
	const char *program = image_program(image);
	if (program[0] == '/')
		return text_equal(without_usr(program), without_usr(path));
	return program[0] != '\0' && strchr(program, '/') == NULL &&
	       text_equal(program, path_base(path));
}
