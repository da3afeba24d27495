/* SPDX-License-Identifier: MIT */
/* Compares the needs of all files with what the image has. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/judging/contents/internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { NEEDS_MAX = 1000 };

static const struct machine {
	const char *name; /* GOARCH */
	unsigned machine, bits;
	const char *also; /* another architecture whose programs it runs */
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
	const struct machine *machine;	    /* of the image's platform; NULL: unknown */
	bool has_musl, has_usual_glibc;	    /* glibc in a usual folder */
	struct text_index names;	    /* of files and links */
	struct text_index names_by_machine; /* name_of() */
	const struct content_file *newest,
		*highest; /* with the highest needs of glibc and processor */
};

static void conclusion_free(struct conclusion *conclusion)
{
	text_index_free(&conclusion->names);
	text_index_free(&conclusion->names_by_machine);
}

static void add_need(struct conclusion *it, const char *path, const char *name, const char *missing)
{
	struct image_contents *out = it->out;
	if (out->need_count == NEEDS_MAX)
		return;
	out->needs = arena_grow(&out->arena, out->needs, out->need_count, sizeof(*out->needs));
	out->needs[out->need_count++] = (struct contents_need){
		.path = arena_string(&out->arena, path), .name = name, .missing = missing};
}

static void add_note(struct conclusion *it, const struct contents_note *note, const char *path)
{
	struct image_contents *out = it->out;
	out->notes = arena_grow(&out->arena, out->notes, out->note_count, sizeof(*out->notes));
	out->notes[out->note_count] = *note;
	out->notes[out->note_count++].path = arena_string(&out->arena, path);
}

/* The key of a name in `names_by_machine`. The target of a link is unknown: its machine is 0. */
static const char *name_of(struct conclusion *it, unsigned machine, unsigned bits, const char *name)
{
	return arena_format(&it->files->arena, "%u/%u/%s", machine, bits, name);
}

/* Root file systems of cross compilers, and programs of 32 bits. */
static bool is_foreign(const struct conclusion *it, const struct content_file *file)
{
	return it->machine != NULL &&
	       (file->machine != it->machine->machine || file->bits != it->machine->bits);
}

/* Records the file's name and component, with which the other files are compared. */
static void collect_file(struct conclusion *it, const struct content_file *file)
{
	struct image_contents *out = it->out;
	const struct component *component = file->component;
	const char *name = path_base(file->path);
	(void)text_index_put(&it->names, name, 0);
	(void)text_index_put(&it->names_by_machine, name_of(it, file->machine, file->bits, name),
			     0);

	const bool is_musl = component != NULL && text_equal(component->name, "musl");
	if (component == NULL || (file->is_link && !is_musl)) /* Debian's musl links to libc.so */
		return;
	it->has_musl = it->has_musl || is_musl;

	/* The newest glibc wins, but one in a usual folder wins over all others: "/lib/x86_64-linux-gnu",
	 * "/usr/lib64" are the loader's own, not those of a compiler. */
	const char *rest =
		file->path + (text_starts_with(file->path, "/usr/") ? strlen("/usr") : 0);
	size_t slashes = 0;
	for (const char *slash = rest; (slash = strchr(slash, '/')) != NULL; slash++)
		slashes++;
	const bool is_usual = text_starts_with(rest, "/lib") && slashes <= 3;
	if (text_equal(component->name, "glibc") && !is_foreign(it, file) &&
	    (is_usual || !it->has_usual_glibc)) {
		if ((is_usual && !it->has_usual_glibc) ||
		    version_compare(file->version, out->glibc) > 0)
			out->glibc = arena_string(&out->arena, file->version);
		it->has_usual_glibc = is_usual;
	}

	const char *version =
		file->version[0] != '\0' ? file->version : component_version(file->path);
	out->libraries = arena_grow(&out->arena, out->libraries, out->library_count,
				    sizeof(*out->libraries));
	out->libraries[out->library_count++] = (struct contents_library){
		.kind = component->kind,
		.path = arena_string(&out->arena, file->path),
		.component = component->name,
		.version = arena_string(&out->arena, version),
		.layer = file->layer,
	};
}

/* musl's loader has these in itself, whatever version is requested (musl ldso/dynlink.c, load_library()).
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
	if (is_in_musl(it, file, name) ||
	    text_index_get(&it->names_by_machine, name_of(it, file->machine, file->bits, name),
			   &known) ||
	    text_index_get(&it->names_by_machine, name_of(it, 0, 0, name), &known))
		return;
	add_need(it, file->path, arena_string(&it->out->arena, name),
		 text_index_get(&it->names, name, &known)
			 ? "the image has it only for another architecture"
			 : "no file of the image has this name");
}

static void check_elf(struct conclusion *it, const struct content_file *file)
{
	struct arena *arena = &it->out->arena;
	const bool foreign = is_foreign(it, file);

	/* A program that the image starts must be for the image's processor. */
	for (size_t i = 0; foreign && i < ARRAY_SIZE(machines); i++) {
		const struct machine *own = &machines[i];
		if (own->machine == file->machine && own->bits == file->bits &&
		    !text_equal(own->name, it->machine->also) &&
		    image_starts(it->image, file->path))
			add_need(it, file->path,
				 arena_format(arena, "a processor of %s", own->name),
				 arena_format(arena, "the image is for %s", it->machine->name));
	}

	/* Files in glibc-hwcaps are alternatives: the loader chooses by the processor. */
	if (strstr(file->path, "/glibc-hwcaps/") == NULL) {
		const bool is_c_library =
			file->component != NULL && file->component->kind == CONTENTS_C_LIBRARY;
		if (!foreign && !is_c_library && file->glibc[0] != '\0' &&
		    (it->newest == NULL || version_compare(file->glibc, it->newest->glibc) > 0))
			it->newest = file;
		if (file->cpu_level > (it->highest != NULL ? it->highest->cpu_level : 0))
			it->highest = file;
	}

	const char *loader = path_base(file->interpreter);
	if (strstr(loader, ".so") != NULL) /* links with other names are not kept */
		check_name(it, file, loader);
	for (size_t i = 0; i < file->needed_count; i++) {
		if (!text_equal(path_base(file->needed[i]), loader))
			check_name(it, file, path_base(file->needed[i]));
	}

	const char *has = it->out->glibc;
	if (!foreign && file->glibc[0] != '\0' && has[0] != '\0' &&
	    version_compare(file->glibc, has) > 0)
		add_need(it, file->path, arena_format(arena, "GLIBC_%s", file->glibc),
			 arena_format(arena, "the image has glibc %s", has));
}

static int by_path(const void *a, const void *b)
{
	const struct content_file *const *x = a;
	const struct content_file *const *y = b;
	return strcmp((*x)->path, (*y)->path);
}

void contents_conclude(struct files *files, const struct image *image, struct image_contents *out)
{
	struct conclusion it CLEANUP(conclusion_free) = {
		.files = files, .image = image, .out = out};
	out->glibc = "";
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (text_equal(image->platform.architecture, machines[i].name))
			it.machine = &machines[i];
	}

	size_t count = 0;
	const struct content_file **list CLEANUP_FREE =
		memory_allocate(files->count + 1, sizeof(*list));
	for (size_t i = 0; i < files->count; i++) {
		if (!files->files[i].is_hidden)
			list[count++] = &files->files[i];
	}
	qsort(list, count, sizeof(*list), by_path);
	for (size_t i = 0; i < count; i++)
		collect_file(&it, list[i]);
	for (size_t i = 0; i < count; i++) {
		if (list[i]->note != NULL)
			add_note(&it, list[i]->note, list[i]->path);
		if (list[i]->is_elf)
			check_elf(&it, list[i]);
	}

	/* The files that need the newest glibc and the highest level of x86-64. */
	struct arena *arena = &out->arena;
	const char *newest = it.newest != NULL ? it.newest->glibc : "";
	out->glibc_needed = arena_string(arena, newest);
	if (it.newest != NULL &&
	    (out->glibc[0] == '\0' || version_compare(newest, out->glibc) <= 0))
		add_need(&it, it.newest->path, arena_format(arena, "GLIBC_%s", newest), "");
	if (it.highest != NULL) {
		out->cpu_level = it.highest->cpu_level;
		add_need(&it, it.highest->path, arena_format(arena, "x86-64-v%u", out->cpu_level),
			 "");
	}

	/* The image's own command may be the workaround, too. */
	struct text line CLEANUP_TEXT = {0};
	for (size_t i = 0; i < image->entrypoint_count; i++)
		text_addf(&line, "%s ", image->entrypoint[i]);
	for (size_t i = 0; i < image->command_count; i++)
		text_addf(&line, "%s ", image->command[i]);
	if (workaround_found(text_string(&line), line.size))
		add_note(&it, &workaround_note, "");
}
