/* SPDX-License-Identifier: MIT */
#include "containers/judging/contents/contents.h"

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

static const struct json_member library_members[] = {
	{.key = "kind",
	 .type = JSON_MEMBER_CHOICE,
	 .presence = JSON_WRITTEN,
	 JSON_AT(struct contents_library, kind),
	 .names = kind_names},
	JSON_TEXT(struct contents_library, "component", component, JSON_WRITTEN, NULL),
	JSON_TEXT(struct contents_library, "version", version, JSON_NULL, NULL),
	JSON_TEXT(struct contents_library, "path", path, JSON_WRITTEN, NULL),
	JSON_NUMBER(struct contents_library, "layer", layer, JSON_WRITTEN, 0, IMAGE_LAYERS_MAX),
	{0},
};

static const struct json_member need_members[] = {
	JSON_TEXT(struct contents_need, "path", path, JSON_WRITTEN, NULL),
	JSON_TEXT(struct contents_need, "name", name, JSON_WRITTEN, NULL),
	JSON_TEXT(struct contents_need, "missing", missing, JSON_NULL, NULL),
	{0},
};

static const struct json_member note_members[] = {
	JSON_TEXT(struct contents_note, "path", path, JSON_NULL, NULL),
	JSON_TEXT(struct contents_note, "text", text, JSON_WRITTEN, NULL),
	JSON_TEXT(struct contents_note, "advice", advice, JSON_WRITTEN, NULL),
	{0},
};

static const struct json_member members[] = {
	JSON_NUMBER(struct image_contents, "files", files, JSON_WRITTEN, 0, INT64_MAX),
	JSON_NUMBER(struct image_contents, "bytes", bytes, JSON_WRITTEN, 0, INT64_MAX),
	JSON_NUMBER(struct image_contents, "filesUnread", files_unread, JSON_WRITTEN, 0, INT32_MAX),
	JSON_NUMBER(struct image_contents, "layersAbsent", layers_absent, JSON_WRITTEN, 0,
		    IMAGE_LAYERS_MAX),
	JSON_TEXT(struct image_contents, "glibc", glibc, JSON_NULL, NULL),
	JSON_TEXT(struct image_contents, "glibcNeeded", glibc_needed, JSON_NULL, NULL),
	JSON_NUMBER(struct image_contents, "cpuLevel", cpu_level, JSON_WRITTEN, 0, CPU_LEVEL_MAX),
	JSON_LIST(struct image_contents, "libraries", libraries, library_count, JSON_WRITTEN,
		  CONTENTS_FILES_MAX, library_members),
	JSON_LIST(struct image_contents, "needs", needs, need_count, JSON_WRITTEN,
		  CONTENTS_FILES_MAX, need_members),
	JSON_LIST(struct image_contents, "notes", notes, note_count, JSON_WRITTEN,
		  CONTENTS_FILES_MAX, note_members),
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
