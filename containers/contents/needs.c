/* SPDX-License-Identifier: MIT */
/* What all files ask for together, and what the image has of it. */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/contents/internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { NEEDS_MAX = 1000 };

static const struct machine {
	const char *name; /* GOARCH */
	unsigned machine, bits;
	const char *also; /* runs the programs of this one, too */
} machines[] = {
	{"amd64", EM_X86_64, 64, "386"},   {"386", EM_386, 32, ""},
	{"arm64", EM_AARCH64, 64, "arm"},  {"arm", EM_ARM, 32, ""},
	{"riscv64", EM_RISCV, 64, ""},	   {"ppc64le", EM_PPC64, 64, ""},
	{"loong64", EM_LOONGARCH, 64, ""},
};

struct conclusion {
	struct files *files;
	struct image_contents *out;
	const struct image *image;
	const struct machine *machine;		     /* of the image's platform; NULL: unknown */
	bool has_musl, has_usual_glibc;		     /* glibc where its loader looks first */
	struct text_index names;		     /* of files and links */
	struct text_index names_by_machine;	     /* name_of() */
	const struct content_file *newest, *highest; /* that ask for most of glibc and processor */
};

static void conclusion_free(struct conclusion *conclusion)
{
	text_index_free(&conclusion->names);
	text_index_free(&conclusion->names_by_machine);
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

/* A name as a program of a machine finds it. Links may lead to any: their machine is 0. */
static const char *name_of(struct conclusion *it, unsigned machine, unsigned bits, const char *name)
{
	return arena_format(&it->files->arena, "%u/%u/%s", machine, bits, name);
}

/* musl's loader has these in itself, under whatever version they are asked for (musl ldso/dynlink.c, load_library()).
 * Libraries do not name a loader: without glibc in the image, musl is what loads them. */
static bool is_in_musl(const struct conclusion *it, const struct content_file *file,
		       const char *name)
{
	static const char *const parts[] = {"libc.",  "libpthread.", "librt.",	"libm.",
					    "libdl.", "libutil.",    "libxnet."};
	const char *suffix = strstr(name, ".so");
	const bool is_versioned = suffix != NULL && suffix[strlen(".so")] != '\0' &&
				  !text_starts_with(name, "libc.musl-");
	if (!it->has_musl || (file->interpreter[0] != '\0'
				      ? !text_starts_with(path_base(file->interpreter), "ld-musl-")
				      : is_versioned || it->out->glibc[0] != '\0'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (text_starts_with(name, parts[i]))
			return true;
	return false;
}

/* Libraries are often loaded by a program that knows where they are, or that has loaded what they
 * need: only a name that no file of the image has for their machine is missing. */
static void check_name(struct conclusion *it, const struct content_file *file, const char *name)
{
	size_t known = 0;
	const char *own = name_of(it, file->machine, file->bits, name);
	const char *link = name_of(it, 0, 0, name);
	if (own == NULL || link == NULL || is_in_musl(it, file, name) ||
	    text_index_get(&it->names_by_machine, own, &known) ||
	    text_index_get(&it->names_by_machine, link, &known))
		return;
	add_need(it, file->path, arena_string(&it->out->arena, name),
		 text_index_get(&it->names, name, &known)
			 ? "the image has it only for another architecture"
			 : "no file of the image has this name");
}

static void check_needed(struct conclusion *it, const struct content_file *file)
{
	const char *loader = path_base(file->interpreter);
	if (strstr(loader, ".so") != NULL) /* links with other names are not kept */
		check_name(it, file, loader);
	for (size_t i = 0; i < file->needed_count; i++)
		if (!text_equal(path_base(file->needed[i]), loader))
			check_name(it, file, path_base(file->needed[i]));
}

/* Root file systems of cross compilers, and programs of 32 bits. */
static bool is_foreign(const struct conclusion *it, const struct content_file *file)
{
	return it->machine != NULL &&
	       (file->machine != it->machine->machine || file->bits != it->machine->bits);
}

static void check_machine(struct conclusion *it, const struct content_file *file)
{
	if (!is_foreign(it, file) || !image_starts(it->image, file->path))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		const struct machine *own = &machines[i];
		struct arena *arena = &it->out->arena;
		if (own->machine == file->machine && own->bits == file->bits &&
		    strcmp(own->name, it->machine->also) != 0)
			add_need(it, file->path,
				 arena_format(arena, "a processor of %s", own->name),
				 arena_format(arena, "the image is for %s", it->machine->name));
	}
}

static void check_glibc(struct conclusion *it, const struct content_file *file)
{
	struct arena *arena = &it->out->arena;
	const char *has = it->out->glibc;
	if (!is_foreign(it, file) && file->glibc[0] != '\0' && has[0] != '\0' &&
	    version_compare(file->glibc, has) > 0)
		add_need(it, file->path, arena_format(arena, "GLIBC_%s", file->glibc),
			 arena_format(arena, "the image has glibc %s", has));
}

static void look_for_most(struct conclusion *it, const struct content_file *file)
{
	const bool is_c_library =
		file->component != NULL && file->component->kind == CONTENTS_C_LIBRARY;
	if (is_alternative(file->path))
		return;
	if (!is_foreign(it, file) && !is_c_library && file->glibc[0] != '\0' &&
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

/* "/lib/x86_64-linux-gnu", "/usr/lib64": the loader's own folders, not those of a compiler. */
static bool is_usual_folder(const char *path)
{
	const char *rest = path + (text_starts_with(path, "/usr/") ? strlen("/usr") : 0);
	size_t slashes = 0;
	for (const char *slash = rest; (slash = strchr(slash, '/')) != NULL; slash++)
		slashes++;
	return text_starts_with(rest, "/lib") && slashes <= 3;
}

static void look_at_glibc(struct conclusion *it, const struct content_file *file)
{
	const bool is_usual = is_usual_folder(file->path);
	if (is_foreign(it, file) || (it->has_usual_glibc && !is_usual))
		return;
	if ((is_usual && !it->has_usual_glibc) ||
	    version_compare(file->version, it->out->glibc) > 0)
		it->out->glibc = arena_string(&it->out->arena, file->version);
	it->has_usual_glibc = is_usual;
}

/* What the others are compared with. */
static int look_first(struct conclusion *it, const struct content_file *file, struct error *err)
{
	size_t known = 0;
	const char *name = path_base(file->path);
	const char *component = file->component != NULL ? file->component->name : "";
	const char *own = name_of(it, file->machine, file->bits, name);
	if (own == NULL)
		return error_memory(err);
	int rc = text_index_put(&it->names, name, 0, &known, err);
	if (rc == 0)
		rc = text_index_put(&it->names_by_machine, own, 0, &known, err);
	const bool is_musl = strcmp(component, "musl") == 0;
	if (rc < 0 || (file->is_link && !is_musl)) /* Debian's musl is a link to libc.so */
		return rc;
	it->has_musl = it->has_musl || is_musl;
	if (strcmp(component, "glibc") == 0)
		look_at_glibc(it, file);
	if (file->component != NULL)
		add_library(it, file);
	return 0;
}

static void look_closer(struct conclusion *it, const struct content_file *file)
{
	if (file->note != NULL)
		add_note(it, file->note, file->path);
	if (!file->is_elf)
		return;
	check_machine(it, file);
	look_for_most(it, file);
	check_needed(it, file);
	check_glibc(it, file);
}

static void check_configuration(struct conclusion *it)
{
	const struct image *image = it->image;
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
	struct conclusion it CLEANUP(conclusion_free) = {
		.files = files, .image = image, .out = out};
	const struct content_file **list CLEANUP_FREE = NULL;
	size_t count = 0;
	int rc = files->arena.failed ? error_memory(err) : list_files(files, &list, &count, err);
	out->glibc = "";
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (text_equal(image->platform.architecture, machines[i].name))
			it.machine = &machines[i];
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = look_first(&it, list[i], err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		look_closer(&it, list[i]);
	add_most(&it);
	check_configuration(&it);
	return out->arena.failed ? error_memory(err) : 0;
}
