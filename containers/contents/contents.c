/* SPDX-License-Identifier: MIT */
#include "containers/contents/contents.h"

#include "base/cpu_level.h"
#include "base/json_members.h"
#include "base/members.h"

#include <stddef.h>

static const char *const kind_names[] = {
	[CONTENTS_DRIVER_LIBRARY] = "driver-library",
	[CONTENTS_ICD_MANIFEST] = "icd-manifest",
	[CONTENTS_C_LIBRARY] = "c-library",
	NULL,
};

const char *contents_kind_name(enum contents_kind kind)
{
	return kind_names[kind];
}

void image_contents_free(struct image_contents *contents)
{
	arena_free(&contents->arena);
	*contents = (struct image_contents){0};
}

static cJSON *library_json(const struct contents_library *library)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "kind", contents_kind_name(library->kind));
	member_string(&json, "component", library->component);
	member_optional(&json, "version", library->version);
	member_string(&json, "path", library->path);
	member_int(&json, "layer", library->layer);
	return members_take(&json);
}

static cJSON *need_json(const struct contents_need *need)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "path", need->path);
	member_string(&json, "name", need->name);
	member_optional(&json, "missing", need->missing);
	return members_take(&json);
}

static cJSON *note_json(const struct contents_note *note)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_optional(&json, "path", note->path);
	member_string(&json, "text", note->text);
	member_string(&json, "advice", note->advice);
	return members_take(&json);
}

cJSON *image_contents_json(const struct image_contents *contents)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members libraries CLEANUP_MEMBERS = members_new_array();
	struct members needs CLEANUP_MEMBERS = members_new_array();
	struct members notes CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < contents->library_count; i++)
		member_item(&libraries, NULL, library_json(&contents->libraries[i]));
	for (size_t i = 0; i < contents->need_count; i++)
		member_item(&needs, NULL, need_json(&contents->needs[i]));
	for (size_t i = 0; i < contents->note_count; i++)
		member_item(&notes, NULL, note_json(&contents->notes[i]));
	member_int(&json, "files", (int64_t)contents->files);
	member_int(&json, "bytes", (int64_t)contents->bytes);
	member_int(&json, "filesUnread", contents->files_unread);
	member_int(&json, "layersAbsent", contents->layers_absent);
	member_optional(&json, "glibc", contents->glibc);
	member_optional(&json, "glibcNeeded", contents->glibc_needed);
	member_int(&json, "cpuLevel", contents->cpu_level);
	member_item(&json, "libraries", members_take(&libraries));
	member_item(&json, "needs", members_take(&needs));
	member_item(&json, "notes", members_take(&notes));
	return members_take(&json);
}

/* The same, read. */
#define TEXT(structure_, key_, member)                                                             \
	{                                                                                          \
		.key = (key_), JSON_AT(struct structure_, member)                                  \
	}
#define NUMBER(key_, member, most)                                                                 \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_INT, JSON_AT(struct image_contents, member),    \
		.max = (most)                                                                      \
	}
#define LIST(key_, items, counter, structure_, most, table)                                        \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_OBJECTS,                                        \
		.offset = offsetof(struct image_contents, items),                                  \
		.size = sizeof(struct structure_),                                                 \
		.count = offsetof(struct image_contents, counter), .max = (most),                  \
		.members = (table)                                                                 \
	}

static const struct json_member library_members[] = {
	{.key = "kind",
	 .type = JSON_MEMBER_CHOICE,
	 JSON_AT(struct contents_library, kind),
	 .names = kind_names},
	TEXT(contents_library, "component", component),
	TEXT(contents_library, "version", version),
	TEXT(contents_library, "path", path),
	{.key = "layer",
	 .type = JSON_MEMBER_INT,
	 JSON_AT(struct contents_library, layer),
	 .max = IMAGE_LAYERS_MAX},
	{0},
};

static const struct json_member need_members[] = {
	TEXT(contents_need, "path", path),
	TEXT(contents_need, "name", name),
	TEXT(contents_need, "missing", missing),
	{0},
};

static const struct json_member note_members[] = {
	TEXT(contents_note, "path", path),
	TEXT(contents_note, "text", text),
	TEXT(contents_note, "advice", advice),
	{0},
};

static const struct json_member members[] = {
	NUMBER("files", files, INT64_MAX),
	NUMBER("bytes", bytes, INT64_MAX),
	NUMBER("filesUnread", files_unread, INT32_MAX),
	NUMBER("layersAbsent", layers_absent, IMAGE_LAYERS_MAX),
	TEXT(image_contents, "glibc", glibc),
	TEXT(image_contents, "glibcNeeded", glibc_needed),
	NUMBER("cpuLevel", cpu_level, CPU_LEVEL_MAX),
	LIST("libraries", libraries, library_count, contents_library, CONTENTS_FILES_MAX,
	     library_members),
	LIST("needs", needs, need_count, contents_need, CONTENTS_FILES_MAX, need_members),
	LIST("notes", notes, note_count, contents_note, CONTENTS_FILES_MAX, note_members),
	{0},
};

int image_contents_parse(const struct json_at *object, struct image_contents *out,
			 struct error *err)
{
	*out = (struct image_contents){0};
	return json_members_read(object, members, out, &out->arena, err);
}
