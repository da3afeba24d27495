/* SPDX-License-Identifier: MIT */
#include "reports/certificates/publish/publication.h"

#include "base/members.h"
#include "base/text_index.h"
#include "base/windows_path.h"
#include "reports/certificates/folder.h"
#include "reports/environment.h"
#include "reports/journal.h"
#include "reports/render.h"
#include "reports/view.h"

#include <string.h>

#define EVIDENCE   "evidence/"
#define ANNOTATION "gpucert.internal/"

void publication_free(struct publication *publication)
{
	text_free(&publication->document);
	image_free(&publication->manifest);
}

const struct image_descriptor *publication_find(const struct publication *publication,
						const char *title)
{
	for (size_t i = 0; i < publication->manifest.layer_count; i++) {
		if (text_equal(publication->manifest.layers[i].title, title))
			return &publication->manifest.layers[i];
	}
	return NULL;
}

void publication_describe(const struct publication *publication, struct publish_result *out)
{
	memcpy(out->digest, publication->digest, sizeof(out->digest));
	out->files = publication->manifest.layer_count;
	out->bytes = publication->size;
}

/* The type that servers report to browsers. Evidence is shown as plain text, never as a page. */
static const char *media_type(const char *title)
{
	static const struct {
		const char *suffix, *type;
		bool evidence;
	} types[] = {
		{".json", "application/json", true},  {".ndjson", "application/x-ndjson", false},
		{".xml", "application/xml", false},   {".html", "text/html", false},
		{".yaml", "application/yaml", false}, {".md", "text/markdown", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (text_ends_with(title, types[i].suffix) &&
		    (types[i].evidence || !text_starts_with(title, EVIDENCE)))
			return types[i].type;
	}
	return "text/plain";
}

/* ---- Making. */

static void add_layer(struct members *layers, const char *title, const char *digest, uint64_t size)
{
	struct members layer = member_object(layers, NULL);
	image_descriptor_write(&layer, media_type(title), digest, size);
	struct members annotations = member_object(&layer, "annotations");
	member_string(&annotations, OCI_TITLE, title);
}

/* It is written last, and is not interpreted here. */
static int add_attestation(struct members *layers, const char *directory, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	char digest[DIGEST_SIZE] = "";
	struct error failure = {0};
	size_t size = 0;
	int rc = report_read_file(directory, ATTESTATION_FILE_NAME, PUBLICATION_FILE_MAX, &data,
				  &size, &failure);
	if (rc < 0)
		return rc == ERROR_NOT_FOUND ? 0 : error_copy(err, &failure);
	digest_bytes(data, size, digest);
	add_layer(layers, ATTESTATION_FILE_NAME, digest, size);
	return 0;
}

/* Unknown values are left out. */
static void annotate(struct members *annotations, const char *name, const char *value)
{
	if (value[0] != '\0')
		member_string(annotations, name, value);
}

static void add_annotations(const cJSON *report, struct members *manifest)
{
	static const char *const sections[] = {"os", "drivers", "runtime", "plugin"};
	struct members annotations = member_object(manifest, "annotations");
	annotate(&annotations, "org.opencontainers.image.created",
		 view_string(report, "/run/ended"));
	annotate(&annotations, ANNOTATION "run", view_string(report, "/run/id"));
	annotate(&annotations, ANNOTATION "verdict",
		 view_string(report, "/verdict/conformance/result"));
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct text names CLEANUP_TEXT = {0};
		char *name CLEANUP_FREE = text_format(ANNOTATION "%s", sections[i]);
		environment_add_names(sections[i], json_pointer(report, "/environment"), &names);
		annotate(&annotations, name, text_string(&names));
	}
}

int publication_make(const char *directory, const cJSON *subject, struct publication *out,
		     struct error *err)
{
	struct members manifest CLEANUP_MEMBERS = members_new();
	char digest[DIGEST_SIZE] = "";
	struct text document CLEANUP_TEXT = {0};
	struct folder folder CLEANUP_FOLDER = {0};
	struct faults faults CLEANUP_FAULTS = {0};
	int rc = folder_open(directory, &folder, &faults, err);
	if (rc < 0)
		return rc;
	folder_check(&folder, &faults);
	const size_t count = faults_count(&faults);
	if (count > 0)
		return error_set(err, ERROR_FORMAT,
				 "%s is not as a run left it; %zu fault%s, the first: %s",
				 directory, count, count == 1 ? "" : "s",
				 json_pointer_string(faults.items, "/0/what"));
	digest_bytes(PUBLICATION_EMPTY, strlen(PUBLICATION_EMPTY), digest);
	member_int(&manifest, "schemaVersion", 2);
	member_string(&manifest, "mediaType", OCI_MANIFEST);
	member_string(&manifest, "artifactType", PUBLICATION_TYPE);
	struct members empty = member_object(&manifest, "config");
	image_descriptor_write(&empty, PUBLICATION_EMPTY_TYPE, digest, strlen(PUBLICATION_EMPTY));

	struct members layers = member_array(&manifest, "layers");
	rc = add_attestation(&layers, directory, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < FOLDER_FILE_COUNT; i++) {
		const struct folder_file *file = &folder.files[i];
		if (file->data != NULL)
			add_layer(&layers, folder_file_names[i], file->digest, file->size);
	}
	json_each (check, json_pointer(folder.report, "/checks")) {
		json_each (item, json_pointer(check, "/evidence"))
			add_layer(&layers, view_string(item, "/path"), view_string(item, "/digest"),
				  (uint64_t)view_int(item, "/bytes"));
	}

	if (subject != NULL)
		member_copy(&manifest, "subject", subject);
	add_annotations(folder.report, &manifest);
	char *printed CLEANUP_FREE = json_print_compact(manifest.object);
	text_add(&document, printed);
	return publication_read(&document, out, err);
}

/* ---- Reading. */

/* A name that runs give, and that is a valid file name on every system. */
static bool is_evidence(const char *title)
{
	char name[PUBLICATION_TITLE_MAX + 1] = "";
	if (!text_starts_with(title, EVIDENCE) || strlen(title) > PUBLICATION_TITLE_MAX)
		return false;
	for (const char *at = title + strlen(EVIDENCE); at != NULL;) {
		size_t size = strcspn(at, "/");
		memcpy(name, at, size);
		name[size] = '\0';
		for (char *colon = name; (colon = strchr(colon, ':')) != NULL;)
			*colon = '_'; /* a PCI address has some */
		if (name[0] == '.' || !windows_path_is_name(name) ||
		    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				 "._-") != size)
			return false;
		at = at[size] == '/' ? at + size + 1 : NULL;
	}
	return true;
}

static int check_file(const struct image_descriptor *file, struct text_index *seen, size_t number,
		      struct arena *arena, struct error *err)
{
	struct text shown CLEANUP_TEXT = {0};
	text_add_escaped(&shown, file->title, strnlen(file->title, PUBLICATION_TITLE_MAX));
	const char *name = text_string(&shown);
	if (folder_file_names[text_position(folder_file_names, file->title)] == NULL &&
	    !text_equal(file->title, ATTESTATION_FILE_NAME) && !is_evidence(file->title))
		return error_set(err, ERROR_FORMAT,
				 "'%s' is not the name of a file of a report; a later version of "
				 "gpucert may know it",
				 name);
	if (!text_starts_with(file->digest, "sha256:"))
		return error_set(err, ERROR_UNSUPPORTED, "%s has a digest other than SHA-256",
				 name);
	if (file->size > PUBLICATION_FILE_MAX)
		return error_set(err, ERROR_LIMIT, "%s has %llu bytes, more than %d", name,
				 (unsigned long long)file->size, PUBLICATION_FILE_MAX);
	char *folded = (char *)(uintptr_t)arena_string(arena, file->title);
	for (char *letter = folded; *letter != '\0'; letter++)
		if (*letter >= 'A' && *letter <= 'Z')
			*letter = (char)(*letter + 'a' - 'A');
	if (text_index_put(seen, folded, number) != number)
		return error_set(err, ERROR_FORMAT, "%s appears twice", name);
	return 0;
}

static int check_files(struct publication *publication, struct error *err)
{
	struct text_index seen CLEANUP_TEXT_INDEX = {0};
	const struct image *manifest = &publication->manifest;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < manifest->layer_count; i++) {
		publication->size += manifest->layers[i].size;
		rc = check_file(&manifest->layers[i], &seen, i, &publication->manifest.arena, err);
	}
	if (rc == 0 && publication->size > PUBLICATION_SIZE_MAX)
		rc = error_set(err, ERROR_LIMIT, "the files have %llu bytes, more than %d",
			       (unsigned long long)publication->size, PUBLICATION_SIZE_MAX);
	if (rc == 0 && publication_find(publication, JOURNAL_FILE_NAME) == NULL)
		rc = error_set(err, ERROR_FORMAT, "a report without " JOURNAL_FILE_NAME);
	return rc;
}

int publication_read(struct text *document, struct publication *out, struct error *err)
{
	struct publication publication CLEANUP_PUBLICATION = {.document = *document};
	struct image_descriptor configuration = {0};
	cJSON *json CLEANUP_JSON = NULL;
	const char *type = NULL;
	*document = (struct text){0};
	const char *data = text_string(&publication.document);
	digest_bytes(data, publication.document.size, publication.digest);
	int rc = image_document_parse(data, publication.document.size, &json, err);
	if (rc == 0 && !cJSON_IsArray(json_pointer(json, "/manifests")))
		rc = image_manifest_read(json, &publication.manifest, &configuration, err);
	if (rc == 0)
		rc = image_document_type(json, NULL, &type, err);
	const char *artifact = publication.manifest.artifact_type;
	if (rc == 0 && !text_equal(type, OCI_MANIFEST))
		rc = error_set(err, ERROR_FORMAT, "not a report, but %.100s", type);
	else if (rc == 0 && !text_equal(artifact, PUBLICATION_TYPE))
		rc = error_set(err, ERROR_FORMAT, "not a report, but %s%.100s",
			       artifact[0] != '\0' ? "an artifact of type " : "an image", artifact);
	if (rc == 0)
		rc = check_files(&publication, err);
	if (rc < 0)
		return error_wrap(err, rc, "manifest");
	*out = STEAL(publication);
	return 0;
}
