/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "conformance/runner/facts_internal.h"

#define STRING(key, member) JSON_TEXT(struct facts_file, key, member, JSON_WRITTEN, NULL)
#define DOCUMENT(key_, member)                                                                     \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_ANY, JSON_AT(struct facts_file, member)         \
	}

const struct json_member facts_members[] = {
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
