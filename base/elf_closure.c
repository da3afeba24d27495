/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/elf.h"
#include "base/elf_internal.h"
#include "base/memory.h"
#include "base/path.h"

#include <string.h>

/* An object that the loader has loaded in one process. */
struct closure_object {
	const struct elf_known *known;
	const char *destination;
	const char *origin;		     /* what $ORIGIN means for it */
	const struct closure_object *loader; /* the object that needs it; NULL for the first */
};

/* One process: what elf_closure_add() follows. */
struct closure_process {
	struct elf_closure *closure;
	struct closure_object **objects; /* in the order of loading, breadth first */
	size_t count;
	struct text_list *names; /* known to the loader: file names as requested, and sonames */
};

int elf_closure_new(const char *root, struct elf_closure **out, struct error *err)
{
	struct elf_search *search = NULL;
	int rc = elf_search_open(root, &search, err);
	if (rc < 0)
		return rc;
	*out = memory_allocate(1, sizeof(**out));
	if (*out == NULL) {
		elf_search_free(search);
		return error_memory(err);
	}
	(*out)->search = search;
	return 0;
}

void elf_closure_cleanup(struct elf_closure **closure)
{
	if (*closure != NULL)
		elf_search_free((*closure)->search);
	free(*closure);
}

static int add_file(struct elf_closure *closure, const struct elf_known *known,
		    const char *destination, struct error *err)
{
	struct arena *arena = &closure->search->arena;
	for (size_t i = 0; i < closure->file_count; i++) {
		if (strcmp(closure->files[i].destination, destination) == 0)
			return 0;
	}
	if (closure->file_count >= ELF_CLOSURE_MAX)
		return error_set(err, ERROR_LIMIT, "%s: more than %d files are needed", destination,
				 (int)ELF_CLOSURE_MAX);
	struct elf_file *files =
		arena_grow(arena, closure->files, closure->file_count, sizeof(*closure->files));
	if (files == NULL)
		return error_memory(err);
	closure->files = files;
	closure->files[closure->file_count++] = (struct elf_file){
		known->source, arena_string(arena, destination), known->info.bits};
	return 0;
}

static void add_missing(struct elf_closure *closure, const char *name, const char *needed_by)
{
	struct arena *arena = &closure->search->arena;
	for (size_t i = 0; i < closure->missing_count; i++) {
		if (strcmp(closure->missing[i].name, name) == 0)
			return;
	}
	struct elf_missing *missing = arena_grow(arena, closure->missing, closure->missing_count,
						 sizeof(*closure->missing));
	if (missing == NULL)
		return;
	closure->missing = missing;
	closure->missing[closure->missing_count++] =
		(struct elf_missing){arena_string(arena, name), arena_string(arena, needed_by)};
}

/* Loads a file under a name. A file that is loaded already only gets one more name. */
static int closure_load(struct closure_process *process, const struct elf_known *known,
			const char *name, const char *destination,
			const struct closure_object *loader, struct error *err)
{
	const struct elf_info *info = &known->info;
	struct arena *arena = &process->closure->search->arena;
	int rc = add_file(process->closure, known, destination, err);
	if (rc < 0)
		return rc;
	text_list_add(process->names, name);
	if (info->soname != NULL && !text_list_has(process->names, info->soname))
		text_list_add(process->names, info->soname);
	for (size_t i = 0; i < process->count; i++) {
		if (process->objects[i]->known == known)
			return 0;
	}

	/* The kernel resolves the links of a program; the loader keeps those of a library. */
	char *origin CLEANUP_FREE =
		path_directory(info->interpreter != NULL ? known->resolved : destination);
	struct closure_object *object = arena_allocate(arena, sizeof(*object));
	struct closure_object **objects = arena_grow(arena, process->objects, process->count,
						     sizeof(struct closure_object *));
	if (origin == NULL || object == NULL || objects == NULL)
		return error_memory(err);
	process->objects = objects;
	*object = (struct closure_object){known, arena_string(arena, destination),
					  arena_string(arena, origin), loader};
	process->objects[process->count++] = object;
	return 0;
}

/* The directories of ld.so.conf, then those of the machine. */
static int search_system(struct elf_search *search, const char *origin, const char *name,
			 const struct elf_info *fits, const struct elf_known **found,
			 char **destination, struct error *err)
{
	struct text_list standard CLEANUP_TEXT_LIST = {0};
	int rc = elf_search_directories(search, &search->configured, origin, name, fits, found,
					destination, err);
	if (rc != ERROR_NOT_FOUND)
		return rc;
	elf_default_directories(fits, &standard);
	if (standard.failed)
		return error_memory(err);
	return elf_search_directories(search, &standard, origin, name, fits, found, destination,
				      err);
}

static int closure_search(const struct closure_process *process,
			  const struct closure_object *object, const char *name,
			  const struct elf_known **found, char **destination, struct error *err)
{
	struct elf_search *search = process->closure->search;
	const struct elf_info *info = &object->known->info;
	int rc = ERROR_NOT_FOUND;

	/* A name with a slash is a path. */
	if (strchr(name, '/') != NULL) {
		char *path CLEANUP_FREE = elf_expand(name, object->origin, info);
		if (path == NULL || !path_is_absolute(path))
			return ERROR_NOT_FOUND;
		rc = elf_search_file(search, path, found, err);
		if (rc < 0)
			return rc;
		*destination = path_normalize(path);
		return *destination != NULL ? 0 : error_memory(err);
	}

	/* DT_RPATH counts only without DT_RUNPATH, but then also that of the objects that led here. */
	for (const struct closure_object *from = info->runpath.count == 0 ? object : NULL;
	     rc == ERROR_NOT_FOUND && from != NULL; from = from->loader) {
		if (from->known->info.runpath.count == 0)
			rc = elf_search_directories(search, &from->known->info.rpath, from->origin,
						    name, info, found, destination, err);
	}
	if (rc == ERROR_NOT_FOUND)
		rc = elf_search_directories(search, &info->runpath, object->origin, name, info,
					    found, destination, err);
	if (rc == ERROR_NOT_FOUND && !info->no_default_directories)
		rc = search_system(search, object->origin, name, info, found, destination, err);
	return rc;
}

int elf_closure_add(struct elf_closure *closure, const char *path, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct closure_process process = {.closure = closure, .names = &names};
	char *destination CLEANUP_FREE = path_normalize(path);
	const struct elf_known *known = NULL;
	int rc = destination != NULL ? elf_search_file(closure->search, path, &known, err)
				     : error_memory(err);
	if (rc == 0)
		rc = closure_load(&process, known, destination, destination, NULL, err);
	if (rc == 0 && process.count != 0 && known->info.interpreter != NULL) {
		const struct closure_object *program = process.objects[0];
		const char *interpreter = program->known->info.interpreter;
		rc = elf_search_file(closure->search, interpreter, &known, NULL);
		if (rc == 0) {
			rc = closure_load(&process, known, interpreter, interpreter, program, err);
		} else {
			add_missing(closure, interpreter, program->destination);
			rc = 0;
		}
	}

	/* Objects that they load in turn are appended to the list. */
	for (size_t i = 0; rc == 0 && i < process.count; i++) {
		const struct closure_object *object = process.objects[i];
		const struct text_list *needed = &object->known->info.needed;
		for (size_t j = 0; rc == 0 && j < needed->count; j++) {
			const char *name = needed->items[j];
			const struct elf_known *found = NULL;
			char *place CLEANUP_FREE = NULL;
			if (text_list_has(&names, name))
				continue;
			if (closure_search(&process, object, name, &found, &place, NULL) == 0)
				rc = closure_load(&process, found, name, place, object, err);
			else
				add_missing(closure, name, object->destination);
		}
	}
	return rc;
}

int elf_closure_find(struct elf_closure *closure, const char *name, char **path, struct error *err)
{
	struct elf_info own CLEANUP(elf_info_free) = {0};
	const struct elf_known *found = NULL;
	int rc = elf_read("/proc/self/exe", &own, err);
	if (rc == 0)
		rc = search_system(closure->search, "/", name, &own, &found, path, err);
	return rc;
}
