/* SPDX-License-Identifier: MIT */
#include "containers/contents/contents.h"

#include "base/members.h"

static const char *const kind_names[] = {
	[CONTENTS_DRIVER_LIBRARY] = "driver-library",
	[CONTENTS_ICD_MANIFEST] = "icd-manifest",
	[CONTENTS_C_LIBRARY] = "c-library",
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
