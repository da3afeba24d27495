/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/images/images.h"
#include "containers/images/internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAMS GPUCERT_BINARY_DIR "/tests/container-programs"

enum { ARCHIVE_MAX = 64 * 1024 * 1024 };

static char *directory; /* of the test at hand */

static char *inside(const char *name)
{
	return path_join(directory, name);
}

/* "TYPE MODE UID:GID MTIME SIZE PATH [-> TARGET]" of every entry, and the content of those named in
 * `wanted`. */
static void list_archive(const void *data, size_t size, struct text *list, const char *wanted,
			 struct text *content)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry = NULL;
	archive_read_support_format_tar(archive);
	CU_ASSERT_EQUAL_FATAL(archive_read_open_memory(archive, data, size), ARCHIVE_OK);
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		const char *path = archive_entry_pathname(entry);
		const char *target = archive_entry_symlink(entry);
		text_addf(list, "%o %o %lld:%lld %lld %s%s%s\n",
			  archive_entry_filetype(entry) >> 12, archive_entry_perm(entry),
			  (long long)archive_entry_uid(entry), (long long)archive_entry_gid(entry),
			  (long long)archive_entry_mtime(entry), path, target != NULL ? " -> " : "",
			  target != NULL ? target : "");
		if (wanted != NULL && strcmp(path, wanted) == 0) {
			char chunk[4096];
			la_ssize_t count = 0;
			while ((count = archive_read_data(archive, chunk, sizeof(chunk))) > 0)
				text_append(content, chunk, (size_t)count);
		}
	}
	archive_read_free(archive);
}

static void compose(const char *archive, const char *program, struct image_description *out)
{
	const char *const programs[] = {program, NULL};
	const struct image_spec spec = {.repository = "docker.io/gpucert/test",
					.base = {.programs = programs}};
	struct error err = {0};
	UNIT_INT(image_compose(archive, &spec, 1, out, &err), 0);
	UNIT_STRING(err.text, "");
}

static void copy(const char *from, const char *to)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	CU_ASSERT_EQUAL_FATAL(file_read(from, ARCHIVE_MAX, &data, &size, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(to, data, size, 0700, NULL), 0);
}

/* The same program in another place, with another time and mode. */
static void test_the_same_input_gives_the_same_bytes(void)
{
	struct image_description one = {0};
	struct image_description two = {0};
	char *first CLEANUP_FREE = inside("first.tar");
	char *second CLEANUP_FREE = inside("second.tar");
	char *again CLEANUP_FREE = inside("probe-test");
	char *a CLEANUP_FREE = NULL;
	char *b CLEANUP_FREE = NULL;
	size_t a_size = 0;
	size_t b_size = 0;
	copy(PROGRAMS "/probe-test", again);
	compose(first, PROGRAMS "/probe-test", &one);
	compose(second, again, &two);
	UNIT_STRING(one.reference, two.reference);
	UNIT_STRING(one.digest, two.digest);
	CU_ASSERT_EQUAL_FATAL(file_read(first, ARCHIVE_MAX, &a, &a_size, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_read(second, ARCHIVE_MAX, &b, &b_size, NULL), 0);
	UNIT_INT(a_size, b_size);
	CU_ASSERT_EQUAL(memcmp(a, b, a_size), 0);
	CU_ASSERT_EQUAL(strncmp(one.reference, "docker.io/gpucert/test:", 23), 0);
	CU_ASSERT_EQUAL(strncmp(one.reference + 23, one.digest + 7, 12), 0);
	image_description_free(&one);
	image_description_free(&two);
}

static void test_another_program_gives_another_digest(void)
{
	struct image_description one = {0};
	struct image_description two = {0};
	char *archive CLEANUP_FREE = inside("images.tar");
	char *changed CLEANUP_FREE = inside("probe-test");
	FILE *file = NULL;
	copy(PROGRAMS "/probe-test", changed);
	file = fopen(changed, "ab");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	(void)fputc('x', file);
	(void)fclose(file);
	compose(archive, PROGRAMS "/probe-test", &one);
	compose(archive, changed, &two);
	CU_ASSERT_STRING_NOT_EQUAL(one.digest, two.digest);
	CU_ASSERT_STRING_NOT_EQUAL(one.reference, two.reference);
	image_description_free(&one);
	image_description_free(&two);
}

/* Follows the layout from index.json to the layer, checking every digest on the way. */
static void read_blob(const char *archive, size_t size, const cJSON *descriptor, struct text *out)
{
	const char *digest = cJSON_GetStringValue(json_pointer(descriptor, "/digest"));
	char *path CLEANUP_FREE = text_format("blobs/sha256/%s", digest + strlen("sha256:"));
	struct text list CLEANUP_TEXT = {0};
	char seen[DIGEST_SIZE] = "";
	list_archive(archive, size, &list, path, out);
	digest_bytes(text_string(out), out->size, seen);
	UNIT_STRING(seen, digest);
	UNIT_INT(out->size, cJSON_GetNumberValue(json_pointer(descriptor, "/size")));
}

static cJSON *parse(const struct text *text)
{
	cJSON *json = NULL;
	CU_ASSERT_EQUAL_FATAL(json_parse(text_string(text), text->size, &json, NULL), 0);
	return json;
}

static void test_the_layout_is_sound(void)
{
	struct images images = {0};
	struct error err = {0};
	char *archive CLEANUP_FREE = NULL;
	size_t size = 0;
	struct text list CLEANUP_TEXT = {0};
	struct text index_text CLEANUP_TEXT = {0};
	struct text manifest_text CLEANUP_TEXT = {0};
	struct text config_text CLEANUP_TEXT = {0};
	struct text layer CLEANUP_TEXT = {0};
	cJSON *index CLEANUP_JSON = NULL;
	cJSON *manifest CLEANUP_JSON = NULL;
	cJSON *config CLEANUP_JSON = NULL;
	CU_ASSERT_EQUAL_FATAL(images_prepare(directory, PROGRAMS, &images, &err), 0);
	CU_ASSERT_EQUAL_FATAL(file_read(images.archive, ARCHIVE_MAX, &archive, &size, NULL), 0);
	list_archive(archive, size, &list, "index.json", &index_text);
	index = parse(&index_text);
	UNIT_INT(cJSON_GetArraySize(json_pointer(index, "/manifests")), 2);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(
			    index, "/manifests/1/annotations/io.containerd.image.name")),
		    IMAGES_PAUSE_REFERENCE);
	read_blob(archive, size, json_pointer(index, "/manifests/0"), &manifest_text);
	manifest = parse(&manifest_text);
	read_blob(archive, size, json_pointer(manifest, "/config"), &config_text);
	config = parse(&config_text);
	read_blob(archive, size, json_pointer(manifest, "/layers/0"), &layer);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(config, "/rootfs/diff_ids/0")),
		    cJSON_GetStringValue(json_pointer(manifest, "/layers/0/digest")));
	text_reset(&list);
	list_archive(layer.data, layer.size, &list, NULL, NULL);
	UNIT_CONTAINS(text_string(&list), "10 755 0:0 0 libexec/gpucert/probe-test\n");
	UNIT_CONTAINS(text_string(&list), "4 1777 0:0 0 tmp/\n");
	UNIT_CONTAINS(text_string(&list), "12 777 0:0 0 lib -> usr/lib\n");
	UNIT_CONTAINS(text_string(&list), "10 644 0:0 0 etc/passwd\n");
	images_free(&images);
}

/* A program that is linked dynamically takes its loader and libraries along. */
static void test_libraries_come_along(void)
{
	const char *const programs[] = {"/proc/self/exe", NULL};
	const char *const loaded[] = {"libdl.so.2", "libnowhere-gpucert.so.7", NULL};
	const struct image_spec spec = {.repository = "x",
					.base = {.programs = programs, .loaded_libraries = loaded}};
	struct image_description description = {0};
	char *archive CLEANUP_FREE = inside("images.tar");
	struct text files CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(image_compose(archive, &spec, 1, &description, &err), 0);
	for (size_t i = 0; i < description.manifest.count; i++)
		text_addf(&files, "%s\n", description.manifest.files[i].path);
	UNIT_CONTAINS(text_string(&files), "/libc.so.6\n");
	UNIT_CONTAINS(text_string(&files), "/libcunit.so.1\n");
	UNIT_CONTAINS(text_string(&files), "/libdl.so.2\n");
	UNIT_CONTAINS(text_string(&files), "/ld-linux");
	CU_ASSERT_PTR_NULL(strstr(text_string(&files), "\n/lib/"));
	image_description_free(&description);
}

static void expect_failure(const char *program, int code, const char *part)
{
	const char *const programs[] = {program, NULL};
	const struct image_spec spec = {.repository = "x", .base = {.programs = programs}};
	struct image_description description = {0};
	char *archive CLEANUP_FREE = inside("failed.tar");
	struct text_list left CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	UNIT_INT(image_compose(archive, &spec, 1, &description, &err), code);
	UNIT_CONTAINS(err.text, part);
	CU_ASSERT_EQUAL(file_list(directory, &left, NULL), 0);
	UNIT_INT(left.count, 0);
	CU_ASSERT_PTR_NULL(description.reference);
}

static void test_programs_that_cannot_be_used(void)
{
	struct images images = {0};
	struct error err = {0};
	expect_failure("/nonexistent/probe", ERROR_NOT_FOUND, "/nonexistent/probe");
	expect_failure("/etc/passwd", ERROR_FORMAT, "/etc/passwd");
	UNIT_INT(images_prepare(directory, "/etc", &images, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/etc: no probe-* programs there");
	UNIT_INT(images_prepare(directory, "/nonexistent", &images, &err), ERROR_NOT_FOUND);
}

/* A file system with room for half an image. */
static void test_a_full_disk(void)
{
	char *small CLEANUP_FREE = NULL;
	char *archive CLEANUP_FREE = NULL;
	const char *const programs[] = {PROGRAMS "/probe-test", NULL};
	const struct image_spec spec = {.repository = "x", .base = {.programs = programs}};
	struct image_description description = {0};
	struct text_list left CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	if (geteuid() != 0)
		return;
	small = inside("small");
	archive = path_join(small, "images.tar");
	CU_ASSERT_EQUAL_FATAL(mkdir(small, 0700), 0);
	CU_ASSERT_EQUAL_FATAL(mount("tmpfs", small, "tmpfs", 0, "size=400k"), 0);
	UNIT_INT(image_compose(archive, &spec, 1, &description, &err), ERROR_IO);
	UNIT_CONTAINS(err.text, "images.tar");
	UNIT_CONTAINS(err.text, "No space left on device");
	CU_ASSERT_EQUAL(file_list(small, &left, NULL), 0);
	UNIT_INT(left.count, 0);
	CU_ASSERT_EQUAL(umount(small), 0);
}

/* A folder with these programs, each a copy of probe-test. */
static char *make_programs(const char *const *names)
{
	char *programs = inside("programs");
	CU_ASSERT_EQUAL_FATAL(mkdir(programs, 0700), 0);
	for (size_t i = 0; names[i] != NULL; i++) {
		char *path CLEANUP_FREE = path_join(programs, names[i]);
		copy(PROGRAMS "/probe-test", path);
	}
	return programs;
}

/* The list of digests and the files of each layer of an archive's first image. */
static void read_layers(const char *path, struct text_list *digests, struct text_list *contents)
{
	char *archive CLEANUP_FREE = NULL;
	size_t size = 0;
	struct text list CLEANUP_TEXT = {0};
	struct text index_text CLEANUP_TEXT = {0};
	struct text manifest_text CLEANUP_TEXT = {0};
	const cJSON *layer = NULL;
	CU_ASSERT_EQUAL_FATAL(file_read(path, ARCHIVE_MAX, &archive, &size, NULL), 0);
	list_archive(archive, size, &list, "index.json", &index_text);
	cJSON *index CLEANUP_JSON = parse(&index_text);
	read_blob(archive, size, json_pointer(index, "/manifests/0"), &manifest_text);
	cJSON *manifest CLEANUP_JSON = parse(&manifest_text);
	cJSON_ArrayForEach (layer, json_pointer(manifest, "/layers")) {
		struct text blob CLEANUP_TEXT = {0};
		struct text files CLEANUP_TEXT = {0};
		read_blob(archive, size, layer, &blob);
		list_archive(blob.data, blob.size, &files, NULL, NULL);
		text_list_add(digests, cJSON_GetStringValue(json_pointer(layer, "/digest")));
		text_list_add(contents, text_string(&files));
	}
}

static void build(const char *archive, const char *programs, const char *family)
{
	struct text_list families CLEANUP_TEXT_LIST = {0};
	const struct images_choice choice = {.program_directory = programs, .families = &families};
	struct images images = {0};
	if (family != NULL)
		text_list_add(&families, family);
	UNIT_INT(images_build(archive, &choice, &images, NULL), 0);
	CU_ASSERT_PTR_NULL(images.pause.reference);
	images_free(&images);
}

static bool has(const struct text_list *contents, size_t layer, const char *part)
{
	return layer < contents->count && strstr(contents->items[layer], part) != NULL;
}

static void test_a_layer_for_each_family(void)
{
	static const char *const names[] = {"probe-visibility", "probe-opencl", "probe-vulkan",
					    "probe-nvenc",	"pause",	NULL};
	char *programs CLEANUP_FREE = make_programs(names);
	char *all CLEANUP_FREE = inside("all.tar");
	char *one CLEANUP_FREE = inside("one.tar");
	struct text_list digests CLEANUP_TEXT_LIST = {0};
	struct text_list contents CLEANUP_TEXT_LIST = {0};
	struct text_list one_digests CLEANUP_TEXT_LIST = {0};
	struct text_list one_contents CLEANUP_TEXT_LIST = {0};
	build(all, programs, NULL);
	build(one, programs, "graphics");
	read_layers(all, &digests, &contents);
	read_layers(one, &one_digests, &one_contents);
	CU_ASSERT_EQUAL_FATAL(digests.count, 4);
	CU_ASSERT_EQUAL_FATAL(one_digests.count, 2);
	UNIT_STRING(one_digests.items[0], digests.items[0]);
	UNIT_STRING(one_digests.items[1], digests.items[2]);
	CU_ASSERT_TRUE(has(&contents, 0, " libexec/gpucert/probe-visibility\n"));
	CU_ASSERT_TRUE(has(&contents, 0, " etc/passwd\n"));
	CU_ASSERT_TRUE(has(&contents, 1, " libexec/gpucert/probe-opencl\n"));
	CU_ASSERT_TRUE(has(&contents, 1, "/libOpenCL.so.1\n"));
	CU_ASSERT_TRUE(has(&contents, 2, " libexec/gpucert/probe-vulkan\n"));
	CU_ASSERT_TRUE(has(&contents, 3, " libexec/gpucert/probe-nvenc\n"));
	for (size_t i = 0; i < contents.count; i++) {
		CU_ASSERT_EQUAL(has(&contents, i, "probe-vulkan"), i == 2);
		CU_ASSERT_EQUAL(has(&contents, i, " etc/"), i == 0);
		CU_ASSERT_FALSE(has(&contents, i, "/pause"));
	}
}

static void expect_choice(const char *programs, const char *family, const char *reference, int code,
			  const char *part)
{
	char *archive CLEANUP_FREE = inside("kept.tar");
	struct text_list families CLEANUP_TEXT_LIST = {0};
	const struct images_choice choice = {
		.program_directory = programs, .families = &families, .reference = reference};
	struct images images = {0};
	struct error err = {0};
	if (family != NULL)
		text_list_add(&families, family);
	UNIT_INT(images_build(archive, &choice, &images, &err), code);
	if (part != NULL)
		UNIT_CONTAINS(err.text, part);
	images_free(&images);
}

static void test_what_is_asked_for(void)
{
	static const char *const names[] = {"probe-visibility", "probe-opencl", NULL};
	static const char *const sound[] = {"docker.io/a:1", "localhost/a-b/c_d.e:V1.0_x-y",
					    "localhost:5000/a:latest",
					    "registry.example:443/x/y:2026", NULL};
	static const char *const wrong[] = {
		"",	     "a:1",	 "a/b:1",	"a.b/C:1",   "A.b/c:1", "a.b/c",
		"a.b:1/c",   "a.b/c:",	 "a.b/c:1@sha", "a.b/c d:1", "a.b/:1",	"a.b//c:1",
		"a.b/c\":1", "a.b/c:-x", "a.b/c:1/2",	"a.b/c:\n",  "/c:1",	NULL};
	char *programs CLEANUP_FREE = make_programs(names);
	expect_choice(programs, "graphic", NULL, ERROR_ARGUMENT,
		      "family 'graphic' is not one of compute, graphics, video, directx");
	expect_choice(programs, "video", NULL, ERROR_NOT_FOUND,
		      "family 'video' has no probe in this build");
	for (size_t i = 0; sound[i] != NULL; i++)
		expect_choice(programs, NULL, sound[i], 0, NULL);
	for (size_t i = 0; wrong[i] != NULL; i++)
		expect_choice(programs, NULL, wrong[i], ERROR_ARGUMENT, "REGISTRY/NAME:TAG");
}

/* A failure leaves what was there, and a device or a folder is not replaced. */
static void test_what_was_there_stays(void)
{
	const char *const programs[] = {"/etc/passwd", NULL};
	const struct image_spec spec = {.repository = "x", .base = {.programs = programs}};
	const char *const sound[] = {PROGRAMS "/probe-test", NULL};
	const struct image_spec good = {.repository = "x", .base = {.programs = sound}};
	char *archive CLEANUP_FREE = inside("kept.tar");
	char *link CLEANUP_FREE = inside("link.tar");
	struct image_description description = {0};
	struct text_list left CLEANUP_TEXT_LIST = {0};
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	struct error err = {0};
	UNIT_INT(file_write_atomic(archive, "old", 3, 0600, NULL), 0);
	UNIT_INT(image_compose(archive, &spec, 1, &description, NULL), ERROR_FORMAT);
	UNIT_INT(file_read(archive, ARCHIVE_MAX, &data, &size, NULL), 0);
	UNIT_STRING(data, "old");
	UNIT_INT(image_compose(directory, &good, 1, &description, &err), ERROR_EXISTS);
	UNIT_CONTAINS(err.text, "not a regular file");
	UNIT_INT(symlink("kept.tar", link), 0);
	UNIT_INT(image_compose(link, &good, 1, &description, NULL), ERROR_EXISTS);
	UNIT_INT(file_list(directory, &left, NULL), 0);
	UNIT_INT(left.count, 2);
}

static void test_places_in_the_tree(void)
{
	struct image_tree tree CLEANUP_IMAGE_TREE = {0};
	UNIT_INT(
		image_tree_add(&tree, IMAGE_TEXT, "/lib/x86_64-linux-gnu/../a//b", "1", 0644, NULL),
		0);
	UNIT_INT(image_tree_add(&tree, IMAGE_TEXT, "/usr/lib/a/b", "2", 0644, NULL), 0);
	UNIT_INT(image_tree_add(&tree, IMAGE_TEXT, "/library/c", "3", 0644, NULL), 0);
	UNIT_INT(image_tree_add(&tree, IMAGE_TEXT, "relative", "4", 0644, NULL), ERROR_ARGUMENT);
	UNIT_INT(image_tree_add(&tree, IMAGE_DIRECTORY, "/", "", 0700, NULL), 0);
	image_tree_sort(&tree);
	CU_ASSERT_EQUAL_FATAL(tree.count, 6);
	UNIT_STRING(tree.entries[0].path, "/library");
	UNIT_STRING(tree.entries[4].path, "/usr/lib/a");
	UNIT_STRING(tree.entries[5].path, "/usr/lib/a/b");
	UNIT_STRING(tree.entries[5].content, "1");
}

static void test_architectures(void)
{
	const char *name = NULL;
	struct error err = {0};
	UNIT_INT(image_architecture("aarch64", &name, &err), 0);
	UNIT_STRING(name, "arm64");
	UNIT_INT(image_architecture("vax", &name, &err), ERROR_UNSUPPORTED);
	UNIT_CONTAINS(err.text, "vax");
}

static void enter(void)
{
	CU_ASSERT_EQUAL_FATAL(file_make_temporary("/tmp", "gpucert-", &directory, NULL), 0);
}

static void leave(void)
{
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
	free(directory);
	directory = NULL;
}

#define IN_DIRECTORY(test)                                                                         \
	static void test##_inside(void)                                                            \
	{                                                                                          \
		enter();                                                                           \
		test();                                                                            \
		leave();                                                                           \
	}
IN_DIRECTORY(test_the_same_input_gives_the_same_bytes)
IN_DIRECTORY(test_another_program_gives_another_digest)
IN_DIRECTORY(test_the_layout_is_sound)
IN_DIRECTORY(test_libraries_come_along)
IN_DIRECTORY(test_programs_that_cannot_be_used)
IN_DIRECTORY(test_a_full_disk)
IN_DIRECTORY(test_a_layer_for_each_family)
IN_DIRECTORY(test_what_is_asked_for)
IN_DIRECTORY(test_what_was_there_stays)

UNIT_MAIN("images",
	  {"the same input gives the same bytes", test_the_same_input_gives_the_same_bytes_inside},
	  {"another program gives another digest",
	   test_another_program_gives_another_digest_inside},
	  {"the layout is sound", test_the_layout_is_sound_inside},
	  {"libraries come along", test_libraries_come_along_inside},
	  {"programs that cannot be used", test_programs_that_cannot_be_used_inside},
	  {"a full disk", test_a_full_disk_inside},
	  {"a layer for each family", test_a_layer_for_each_family_inside},
	  {"what is asked for", test_what_is_asked_for_inside},
	  {"what was there stays", test_what_was_there_stays_inside},
	  {"places in the tree", test_places_in_the_tree}, {"architectures", test_architectures})
