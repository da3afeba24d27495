/* SPDX-License-Identifier: MIT */
/* What all files ask for together, and what the image has of it. */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/contents/internal.h"

#include <stdlib.h>
#include <string.h>

enum { NEEDS_MAX = 1000 };

struct conclusion {
	struct files *files;
	struct image_contents *out;
	struct text_index names;		     /* of files and links */
	const struct content_file *newest, *highest; /* that ask for most of glibc and processor */
};

static void conclusion_free(struct conclusion *conclusion)
{
	text_index_free(&conclusion->names);
}

/* Failures to add are the arena's. */
static void add_need(struct conclusion *it, const char *path, const char *name, const char *missing)
{
	struct image_contents *out = it->out;
	struct contents_need *grown =
		out->need_count < NEEDS_MAX
			? arena_grow(&out->arena, out->needs, out->need_count, sizeof(*grown))
			: NULL;
	if (grown == NULL)
		return;
	out->needs = grown;
	grown[out->need_count++] = (struct contents_need){
		.path = arena_string(&out->arena, path), .name = name, .missing = missing};
}

static void add_library(struct conclusion *it, const struct content_file *file)
{
	struct image_contents *out = it->out;
	const char *version =
		file->version[0] != '\0' ? file->version : component_version(file->path);
	struct contents_library *grown =
		arena_grow(&out->arena, out->libraries, out->library_count, sizeof(*grown));
	if (grown == NULL)
		return;
	out->libraries = grown;
	grown[out->library_count++] = (struct contents_library){
		.kind = file->component->kind,
		.path = arena_string(&out->arena, file->path),
		.component = file->component->name,
		.version = arena_string(&out->arena, version),
		.layer = file->layer,
	};
}

static void add_note(struct conclusion *it, const struct contents_note *note, const char *path)
{
	struct image_contents *out = it->out;
	struct contents_note *grown =
		arena_grow(&out->arena, out->notes, out->note_count, sizeof(*grown));
	if (grown == NULL)
		return;
	out->notes = grown;
	grown[out->note_count] = *note;
	grown[out->note_count++].path = arena_string(&out->arena, path);
}

/* A choice of the loader's, by the processor that it finds. */
static bool is_alternative(const char *path)
{
	return strstr(path, "/glibc-hwcaps/") != NULL;
}

/* Libraries are often loaded by a program that knows where they are, or that has loaded what they
 * need: only a name that no file of the image has is missing. */
static void check_needed(struct conclusion *it, const struct content_file *file)
{
	for (size_t i = 0; i < file->needed_count; i++) {
		size_t known = 0;
		const char *name = path_base(file->needed[i]);
		if (!text_index_get(&it->names, name, &known))
			add_need(it, file->path, arena_string(&it->out->arena, name),
				 "no file of the image has this name");
	}
}

static void check_glibc(struct conclusion *it, const struct content_file *file)
{
	struct arena *arena = &it->out->arena;
	const char *has = it->out->glibc;
	if (file->glibc[0] != '\0' && has[0] != '\0' && version_compare(file->glibc, has) > 0)
		add_need(it, file->path, arena_format(arena, "GLIBC_%s", file->glibc),
			 arena_format(arena, "the image has glibc %s", has));
}

static void look_for_most(struct conclusion *it, const struct content_file *file)
{
	const bool is_c_library =
		file->component != NULL && file->component->kind == CONTENTS_C_LIBRARY;
	if (is_alternative(file->path))
		return;
	if (!is_c_library && file->glibc[0] != '\0' &&
	    (it->newest == NULL || version_compare(file->glibc, it->newest->glibc) > 0))
		it->newest = file;
	if (file->cpu_level > (it->highest != NULL ? it->highest->cpu_level : 0))
		it->highest = file;
}

static void add_most(struct conclusion *it)
{
	struct image_contents *out = it->out;
	const char *most = it->newest != NULL ? it->newest->glibc : "";
	out->glibc_needed = arena_string(&out->arena, most);
	if (it->newest != NULL && (out->glibc[0] == '\0' || version_compare(most, out->glibc) <= 0))
		add_need(it, it->newest->path, arena_format(&out->arena, "GLIBC_%s", most), "");
	if (it->highest == NULL)
		return;
	out->cpu_level = it->highest->cpu_level;
	add_need(it, it->highest->path, arena_format(&out->arena, "x86-64-v%u", out->cpu_level),
		 "");
}

static int by_path(const void *a, const void *b)
{
	const struct content_file *const *x = a;
	const struct content_file *const *y = b;
	return strcmp((*x)->path, (*y)->path);
}

/* All that are left, sorted. Caller frees *out. */
static int list_files(const struct files *files, const struct content_file ***out, size_t *count,
		      struct error *err)
{
	*out = calloc(files->count + 1, sizeof(**out));
	if (*out == NULL)
		return error_memory(err);
	for (size_t i = 0; i < files->count; i++)
		if (!files->files[i].is_hidden)
			(*out)[(*count)++] = &files->files[i];
	qsort(*out, *count, sizeof(**out), by_path);
	return 0;
}

/* What the others are compared with. */
static int look_first(struct conclusion *it, const struct content_file *file, struct error *err)
{
	size_t known = 0;
	int rc = text_index_put(&it->names, path_base(file->path), 0, &known, err);
	if (rc < 0 || file->is_link)
		return rc;
	if (file->component != NULL && strcmp(file->component->name, "glibc") == 0 &&
	    version_compare(file->version, it->out->glibc) > 0)
		it->out->glibc = arena_string(&it->out->arena, file->version);
	if (file->component != NULL)
		add_library(it, file);
	return 0;
}

static void look_closer(struct conclusion *it, const struct content_file *file)
{
	if (file->note != NULL)
		add_note(it, file->note, file->path);
	look_for_most(it, file);
	check_needed(it, file);
	check_glibc(it, file);
}

static void check_configuration(struct conclusion *it, const struct image *image)
{
	struct text line CLEANUP_TEXT = {0};
	for (size_t i = 0; i < image->entrypoint_count; i++)
		text_addf(&line, "%s ", image->entrypoint[i]);
	for (size_t i = 0; i < image->command_count; i++)
		text_addf(&line, "%s ", image->command[i]);
	it->out->arena.failed = it->out->arena.failed || line.failed;
	if (workaround_found(text_string(&line), line.size))
		add_note(it, &workaround_note, "");
}

int contents_conclude(struct files *files, const struct image *image, struct image_contents *out,
		      struct error *err)
{
	struct conclusion it CLEANUP(conclusion_free) = {.files = files, .out = out};
	const struct content_file **list CLEANUP_FREE = NULL;
	size_t count = 0;
	int rc = files->arena.failed ? error_memory(err) : list_files(files, &list, &count, err);
	out->glibc = "";
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = look_first(&it, list[i], err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		look_closer(&it, list[i]);
	add_most(&it);
	check_configuration(&it, image);
	return out->arena.failed ? error_memory(err) : 0;
}
