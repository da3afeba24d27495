/* SPDX-License-Identifier: MIT */
#include "containers/contents/contents.h"

#include "base/cpu_level.h"
#include "base/json_members.h"

#include <stddef.h>

static const char *const kind_names[] = {
	[CONTENTS_DRIVER_LIBRARY] = "driver-library",
	[CONTENTS_ICD_MANIFEST] = "icd-manifest",
	[CONTENTS_C_LIBRARY] = "c-library",
	NULL,
};

void image_contents_free(struct image_contents *contents)
{
	arena_free(&contents->arena);
	*contents = (struct image_contents){0};
}

#define TEXT(structure_, key_, member, presence_)                                                  \
	{                                                                                          \
		.key = (key_), .presence = (presence_), JSON_AT(struct structure_, member)         \
	}
#define NUMBER(key_, member, most)                                                                 \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_INT, .presence = JSON_WRITTEN,                  \
		JSON_AT(struct image_contents, member), .max = (most)                              \
	}
#define LIST(key_, items, counter, structure_, most, table)                                        \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_OBJECTS, .presence = JSON_WRITTEN,              \
		.offset = offsetof(struct image_contents, items),                                  \
		.size = sizeof(struct structure_),                                                 \
		.count = offsetof(struct image_contents, counter), .max = (most),                  \
		.members = (table)                                                                 \
	}

static const struct json_member library_members[] = {
	{.key = "kind",
	 .type = JSON_MEMBER_CHOICE,
	 .presence = JSON_WRITTEN,
	 JSON_AT(struct contents_library, kind),
	 .names = kind_names},
	TEXT(contents_library, "component", component, JSON_WRITTEN),
	TEXT(contents_library, "version", version, JSON_NULL),
	TEXT(contents_library, "path", path, JSON_WRITTEN),
	{.key = "layer",
	 .type = JSON_MEMBER_INT,
	 .presence = JSON_WRITTEN,
	 JSON_AT(struct contents_library, layer),
	 .max = IMAGE_LAYERS_MAX},
	{0},
};

static const struct json_member need_members[] = {
	TEXT(contents_need, "path", path, JSON_WRITTEN),
	TEXT(contents_need, "name", name, JSON_WRITTEN),
	TEXT(contents_need, "missing", missing, JSON_NULL),
	{0},
};

static const struct json_member note_members[] = {
	TEXT(contents_note, "path", path, JSON_NULL),
	TEXT(contents_note, "text", text, JSON_WRITTEN),
	TEXT(contents_note, "advice", advice, JSON_WRITTEN),
	{0},
};

static const struct json_member members[] = {
	NUMBER("files", files, INT64_MAX),
	NUMBER("bytes", bytes, INT64_MAX),
	NUMBER("filesUnread", files_unread, INT32_MAX),
	NUMBER("layersAbsent", layers_absent, IMAGE_LAYERS_MAX),
	TEXT(image_contents, "glibc", glibc, JSON_NULL),
	TEXT(image_contents, "glibcNeeded", glibc_needed, JSON_NULL),
	NUMBER("cpuLevel", cpu_level, CPU_LEVEL_MAX),
	LIST("libraries", libraries, library_count, contents_library, CONTENTS_FILES_MAX,
	     library_members),
	LIST("needs", needs, need_count, contents_need, CONTENTS_FILES_MAX, need_members),
	LIST("notes", notes, note_count, contents_note, CONTENTS_FILES_MAX, note_members),
	{0},
};

cJSON *image_contents_json(const struct image_contents *contents)
{
	return json_members_write(members, contents);
}

int image_contents_parse(const struct json_at *object, struct image_contents *out,
			 struct error *err)
{
	*out = (struct image_contents){0};
	return json_members_read(object, members, out, &out->arena, err);
}
