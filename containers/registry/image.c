/* SPDX-License-Identifier: MIT */
#include "containers/registry/image.h"

#include "base/cleanup.h"
#include "base/json.h"
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

const char *image_pair_value(const struct image_pair *pairs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(pairs[i].name, name) == 0)
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
	return strcmp(media_type, OCI_INDEX) == 0 || strcmp(media_type, DOCKER_INDEX) == 0;
}

bool image_media_type_is_manifest(const char *media_type)
{
	return strcmp(media_type, OCI_MANIFEST) == 0 || strcmp(media_type, DOCKER_MANIFEST) == 0;
}

int image_document_parse(const char *data, size_t size, cJSON **out, struct error *err)
{
	size_t values = 0; /* each takes two bytes of JSON and a hundred of memory */
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

/* Room for each element of a list, which may be absent: *count receives how many there are. */
static int list_room(const struct json_at *list, size_t most, size_t size, struct arena *arena,
		     void **out, size_t *count, struct error *err)
{
	*count = list->node != NULL ? (size_t)cJSON_GetArraySize(list->node) : 0;
	if (*count > most)
		return error_set(err, ERROR_LIMIT, "%s: more than %zu", list->key, most);
	*out = *count > 0 ? arena_allocate(arena, *count * size) : NULL;
	return 0;
}

static int read_pairs(const struct json_at *object, const char *key, struct arena *arena,
		      struct image_pair **pairs, size_t *count, struct error *err)
{
	struct json_at map = {0};
	void *room = NULL;
	int rc = json_have(object, key, JSON_OBJECT, &map, err);
	if (rc == 0)
		rc = list_room(&map, WORDS_MAX, sizeof(**pairs), arena, &room, count, err);
	if (rc < 0)
		return rc;
	struct image_pair *next = *pairs = room;
	json_each (item, map.node) {
		if (!cJSON_IsString(item))
			return json_error(&map, err, "expected strings");
		*next++ = (struct image_pair){arena_string(arena, item->string),
					      arena_string(arena, item->valuestring)};
	}
	return 0;
}

static int read_words(const struct json_at *object, const char *key, struct arena *arena,
		      const char ***words, size_t *count, struct error *err)
{
	struct json_at list = {0};
	void *room = NULL;
	int rc = json_have(object, key, JSON_ARRAY, &list, err);
	if (rc == 0)
		rc = list_room(&list, WORDS_MAX, sizeof(**words), arena, &room, count, err);
	if (rc < 0)
		return rc;
	const char **next = *words = room;
	json_each (item, list.node) {
		if (!cJSON_IsString(item))
			return json_error(&list, err, "expected strings");
		*next++ = arena_string(arena, item->valuestring);
	}
	return 0;
}

static int have_string(const struct json_at *object, const char *key, struct arena *arena,
		       const char **out, struct error *err)
{
	const char *value = "";
	int rc = json_have_string(object, key, &value, err);
	*out = arena_string(arena, value);
	return rc;
}

static int read_descriptor(const struct json_at *at, struct arena *arena,
			   struct image_descriptor *out, struct error *err)
{
	const char *type = NULL;
	const char *digest = NULL;
	struct json_at annotations = {0};
	int64_t size = 0;
	int rc = json_need_string(at, "mediaType", &type, err);
	if (rc == 0)
		rc = json_need_string(at, "digest", &digest, err);
	if (rc == 0)
		rc = json_need_int(at, "size", 0, INT64_C(1) << 50, &size, err);
	if (rc < 0)
		return rc;
	if (!digest_is_valid(digest))
		return json_error(at, err, "the digest is not one of SHA-256 or SHA-512");
	*out = (struct image_descriptor){
		.media_type = arena_string(arena, type),
		.digest = arena_string(arena, digest),
		.size = (uint64_t)size,
		.title = "",
	};
	rc = json_have(at, "annotations", JSON_OBJECT, &annotations, err);
	if (rc == 0 && annotations.node != NULL)
		rc = have_string(&annotations, OCI_TITLE, arena, &out->title, err);
	return rc;
}

/* Of a descriptor's "platform" or of an image configuration: the members are the same. */
static int read_platform(const struct json_at *at, struct arena *arena, struct image_platform *out,
			 struct error *err)
{
	*out = (struct image_platform){"", "", "", "", NULL, 0};
	const struct {
		const char *key, **out;
	} members[] = {{"os", &out->os},
		       {"architecture", &out->architecture},
		       {"variant", &out->variant},
		       {"os.version", &out->os_version}};
	const char **features = NULL;
	int rc = 0;
	if (at->node == NULL)
		return 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(members); i++)
		rc = have_string(at, members[i].key, arena, members[i].out, err);
	if (rc == 0)
		rc = read_words(at, "os.features", arena, &features, &out->os_feature_count, err);
	out->os_features = features;
	return rc;
}

static int read_entry(const struct json_at *at, struct arena *arena, struct image_index_entry *out,
		      struct error *err)
{
	struct json_at platform = {0};
	int rc = read_descriptor(at, arena, &out->descriptor, err);
	if (rc == 0)
		rc = have_string(at, "artifactType", arena, &out->artifact_type, err);
	if (rc == 0)
		rc = read_pairs(at, "annotations", arena, &out->annotations, &out->annotation_count,
				err);
	if (rc == 0)
		rc = json_have(at, "platform", JSON_OBJECT, &platform, err);
	if (rc == 0)
		rc = read_platform(&platform, arena, &out->platform, err);
	return rc;
}

int image_index_read(const cJSON *document, struct image_index *index, struct error *err)
{
	struct json_at root = json_root(document);
	struct json_at list = {0};
	size_t place = 0;
	int rc = json_need(&root, "manifests", JSON_ARRAY, &list, err);
	if (index->count + json_count(&list) > ENTRIES_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d manifests", ENTRIES_MAX);
	json_each (item, list.node) {
		struct json_at at = {.node = item, .parent = &list, .index = place++};
		struct image_index_entry entry = {0};
		if (rc == 0)
			rc = read_entry(&at, &index->arena, &entry, err);
		if (rc == 0)
			image_index_add(index, &entry);
	}
	return rc;
}

int image_manifest_read(const cJSON *document, struct image *image,
			struct image_descriptor *configuration, struct error *err)
{
	struct json_at root = json_root(document);
	struct json_at config = {0};
	struct json_at layers = {0};
	void *room = NULL;
	size_t place = 0;
	int rc = json_need(&root, "config", JSON_OBJECT, &config, err);
	if (rc == 0)
		rc = read_descriptor(&config, &image->arena, configuration, err);
	if (rc == 0)
		rc = have_string(&root, "artifactType", &image->arena, &image->artifact_type, err);
	if (rc < 0)
		return rc;

	/* Only a manifest without an image's configuration is an artifact (OCI image-spec v1.1, manifest.md "artifactType"). */
	const char *type = configuration->media_type;
	if (strcmp(type, "application/vnd.oci.image.config.v1+json") == 0 ||
	    strcmp(type, "application/vnd.docker.container.image.v1+json") == 0)
		image->artifact_type = "";
	else if (image->artifact_type[0] == '\0')
		image->artifact_type = type;

	rc = json_need(&root, "layers", JSON_ARRAY, &layers, err);
	if (rc == 0)
		rc = list_room(&layers, IMAGE_LAYERS_MAX, sizeof(*image->layers), &image->arena,
			       &room, &image->layer_count, err);
	image->layers = room;
	json_each (item, layers.node) {
		struct json_at at = {.node = item, .parent = &layers, .index = place};
		if (rc == 0)
			rc = read_descriptor(&at, &image->arena, &image->layers[place++], err);
	}
	if (rc == 0)
		rc = read_pairs(&root, "annotations", &image->arena, &image->annotations,
				&image->annotation_count, err);
	return rc;
}

int image_configuration_read(const cJSON *document, struct image *image, struct error *err)
{
	struct json_at root = json_root(document);
	struct json_at config = {0};
	const char **words = NULL;
	int rc = read_platform(&root, &image->arena, &image->platform, err);
	if (rc == 0)
		rc = json_have(&root, "config", JSON_OBJECT, &config, err);
	if (rc < 0 || config.node == NULL)
		return rc;
	rc = read_pairs(&config, "Labels", &image->arena, &image->labels, &image->label_count, err);
	if (rc == 0)
		rc = read_words(&config, "Entrypoint", &image->arena, &image->entrypoint,
				&image->entrypoint_count, err);
	if (rc == 0)
		rc = read_words(&config, "Cmd", &image->arena, &image->command,
				&image->command_count, err);
	if (rc == 0)
		rc = read_words(&config, "Env", &image->arena, &words, &image->environment_count,
				err);
	if (rc < 0)
		return rc;

	/* "NAME=value"; a name without a value is unset (config.md) and so an empty value. */
	image->environment = arena_allocate(&image->arena,
					    image->environment_count * sizeof(*image->environment));
	for (size_t i = 0; i < image->environment_count; i++) {
		size_t length = strcspn(words[i], "=");
		image->environment[i] = (struct image_pair){
			.name = arena_format(&image->arena, "%.*s", (int)length, words[i]),
			.value = words[i][length] == '=' ? words[i] + length + 1 : "",
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
