/* SPDX-License-Identifier: MIT */
#include "containers/judging/contents/contents.h"

#include "base/elf.h"
#include "containers/judging/contents/tests/layers.h"

#include <gnu/libc-version.h>

/* What is written is read as the same. */
static void read_back(const struct image_contents *contents)
{
	struct image_contents again CLEANUP_IMAGE_CONTENTS = {0};
	cJSON *written CLEANUP_JSON = image_contents_json(contents);
	struct json_at root = json_root(written);
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(image_contents_parse(&root, &again, &err), 0);
	cJSON *twice CLEANUP_JSON = image_contents_json(&again);
	CU_ASSERT_TRUE(cJSON_Compare(written, twice, true));
	(void)cJSON_AddStringToObject(written, "other", "");
	image_contents_free(&again);
	UNIT_INT(image_contents_parse(&root, &again, &err), ERROR_FORMAT);
}

/* Makes the image and reads it. */
static int contents_of(const struct layer *layers, const char *entrypoint,
		       struct image_contents *out, struct error *err)
{
	struct layout_maker maker;
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	layout_maker_open(&maker);
	layers_make(&maker, layers, entrypoint);
	CU_ASSERT_EQUAL_FATAL(image_source_open(maker.string, NULL, &source, err), 0);
	CU_ASSERT_EQUAL_FATAL(image_source_load(source, NULL, &image, err), 0);
	int rc = image_contents_read(source, &image, NULL, out, err);
	layout_maker_close(&maker);
	if (rc == 0)
		read_back(out);
	return rc;
}

static const struct contents_library *find(const struct image_contents *contents, const char *path)
{
	for (size_t i = 0; i < contents->library_count; i++)
		if (strcmp(contents->libraries[i].path, path) == 0)
			return &contents->libraries[i];
	return NULL;
}

static const struct contents_need *find_need(const struct image_contents *contents,
					     const char *name)
{
	for (size_t i = 0; i < contents->need_count; i++)
		if (strcmp(contents->needs[i].name, name) == 0)
			return &contents->needs[i];
	return NULL;
}

static void test_libraries(void)
{
	static const struct layer_entry base[] = {
		{ENTRY_ELF, "./usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01", "", 0},
		{ENTRY_LINK, "usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.535.183.01", 0},
		{ENTRY_ELF, "/usr/local/cuda/lib64/libcudart.so.12.4.127", "", 0},
		{ENTRY_HARD_LINK, "opt/libcudart.so.12.4.127",
		 "usr/local/cuda/lib64/libcudart.so.12.4.127", 0},
		{ENTRY_TEXT, "usr/lib/libnvidia-ml.so.535.183.01", "",
		 0}, /* what a mount left behind */
		{ENTRY_TEXT, "etc/vulkan/icd.d/nvidia_icd.json", "{}", 0},
		{ENTRY_TEXT, "etc/motd", "libcuda.so.1", 0},
		{ENTRY_END, NULL, NULL, 0},
	};
	static const struct layer_entry top[] = {
		{ENTRY_ELF, "opt/rocm/lib/libamdhip64.so.6.1.60100", "", 0},
		{ENTRY_END, NULL, NULL, 0},
	};
	const struct layer layers[] = {{.entries = base, .filter = LAYER_GZIP},
				       {.entries = top, .filter = LAYER_ZSTD},
				       {0}};
	struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(contents_of(layers, NULL, &contents, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(contents.library_count, 5);
	UNIT_INT(contents.files, 8);
	const struct contents_library *cuda =
		find(&contents, "/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01");
	CU_ASSERT_PTR_NOT_NULL_FATAL(cuda);
	UNIT_STRING(cuda->component, "cuda");
	UNIT_STRING(cuda->version, "535.183.01");
	UNIT_INT(cuda->layer, 0);
	CU_ASSERT_PTR_NOT_NULL(find(&contents, "/opt/libcudart.so.12.4.127"));
	CU_ASSERT_PTR_NULL(find(&contents, "/usr/lib/libnvidia-ml.so.535.183.01"));
	const struct contents_library *hip =
		find(&contents, "/opt/rocm/lib/libamdhip64.so.6.1.60100");
	CU_ASSERT_PTR_NOT_NULL_FATAL(hip);
	UNIT_INT(hip->layer, 1);
	const struct contents_library *icd = find(&contents, "/etc/vulkan/icd.d/nvidia_icd.json");
	CU_ASSERT_PTR_NOT_NULL_FATAL(icd);
	UNIT_INT(icd->kind, CONTENTS_ICD_MANIFEST);
}

/* Each higher layer hides something in its own way; `kept` alone is left. */
static void test_whiteouts(void)
{
	static const struct layer_entry base[] = {
		{ENTRY_ELF, "a/libcuda.so.1.1", "", 0},	 {ENTRY_ELF, "b/c/libcuda.so.2.2", "", 0},
		{ENTRY_ELF, "d/libcuda.so.3.3", "", 0},	 {ENTRY_ELF, "e/libcuda.so.4.4", "", 0},
		{ENTRY_ELF, "f/libcuda.so.5.5", "", 0},	 {ENTRY_ELF, "kept/libcuda.so.6.6", "", 0},
		{ENTRY_ELF, "bb/libcuda.so.7.7", "", 0}, {ENTRY_END, NULL, NULL, 0},
	};
	static const struct layer_entry top[] = {
		{ENTRY_TEXT, "a/.wh.libcuda.so.1.1", "", 0},
		{ENTRY_TEXT, ".wh.b", "", 0},
		{ENTRY_ELF, "d/libcuda.so.33.33", "", 0}, /* of the layer of the whiteout: stays */
		{ENTRY_TEXT, "d/.wh..wh..opq", "", 0},
		{ENTRY_LINK, "e", "kept", 0},
		{ENTRY_TEXT, "f/libcuda.so.5.5", "", 0}, /* no library any more */
		{ENTRY_END, NULL, NULL, 0},
	};
	const struct layer layers[] = {{.entries = base}, {.entries = top}, {0}};
	struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(contents_of(layers, NULL, &contents, &err), 0);
	UNIT_INT(contents.library_count, 3);
	CU_ASSERT_PTR_NOT_NULL(find(&contents, "/kept/libcuda.so.6.6"));
	CU_ASSERT_PTR_NOT_NULL(find(&contents, "/d/libcuda.so.33.33"));
	CU_ASSERT_PTR_NOT_NULL(find(&contents, "/bb/libcuda.so.7.7"));
}

/* The program of this test, and this machine's C library, as an image has them. */
static void test_needs(void)
{
	static const struct layer_entry base[] = {
		{ENTRY_HOST_FILE, "bin/program", "/proc/self/exe", 0},
		{ENTRY_HOST_FILE, "lib/x86_64-linux-gnu/libc.so.6",
		 "/lib/x86_64-linux-gnu/libc.so.6", 0},
		{ENTRY_ELF, "usr/lib/libthere.so.1", "libabsent.so.3", 0},
		{ENTRY_ELF, "bin/other", "libthere.so.1", 0},
		{ENTRY_END, NULL, NULL, 0},
	};
	const struct layer layers[] = {{.entries = base, .filter = LAYER_GZIP}, {0}};
	struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
	struct elf_info self CLEANUP(elf_info_free) = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(elf_read("/proc/self/exe", &self, &err), 0);
	CU_ASSERT_EQUAL_FATAL(contents_of(layers, NULL, &contents, &err), 0);
	UNIT_STRING(contents.glibc_needed, self.glibc);
	UNIT_STRING(contents.glibc, gnu_get_libc_version());
	const struct contents_need *absent = find_need(&contents, "libabsent.so.3");
	CU_ASSERT_PTR_NOT_NULL_FATAL(absent);
	UNIT_STRING(absent->path, "/usr/lib/libthere.so.1");
	UNIT_CONTAINS(absent->missing, "no file of the image");
	CU_ASSERT_PTR_NULL(find_need(&contents, "libthere.so.1"));
	CU_ASSERT_PTR_NULL(find_need(&contents, "libc.so.6"));
}

static void test_workaround(void)
{
	static const struct layer_entry base[] = {
		{ENTRY_TEXT, "Files/start.ps1",
		 "Copy-Item C:\\Windows\\System32\\HostDriverStore\\*\\nv*.dll C:\\Windows\\System32",
		 0},
		{ENTRY_TEXT, "Files/other.cmd", "copy a b", 0},
		{ENTRY_END, NULL, NULL, 0},
	};
	const struct layer layers[] = {{.entries = base}, {0}};
	struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(
		contents_of(
			layers,
			"[\"cmd\", \"/c\", \"xcopy C:\\\\Windows\\\\System32\\\\HostDriverStore "
			"C:\\\\Windows\\\\System32\"]",
			&contents, &err),
		0);
	UNIT_INT(contents.note_count, 2);
	UNIT_STRING(contents.notes[0].path, "/Files/start.ps1");
	UNIT_STRING(contents.notes[1].path, "");
	UNIT_CONTAINS(contents.notes[0].advice, "Remove it");
}

/* Hostile layers: a named outcome each. */
static void test_hostile(void)
{
	static const struct layer_entry escape[] = {
		{ENTRY_ELF, "../../../usr/lib/libcuda.so.9.9", "", 0}, {ENTRY_END, NULL, NULL, 0}};
	static const struct layer_entry bomb[] = {{ENTRY_ZEROS, "zeros", NULL, 32 << 20},
						  {ENTRY_TEXT, "end", "", 0},
						  {ENTRY_END, NULL, NULL, 0}};
	static const struct layer_entry text[] = {
		{ENTRY_TEXT, "lib/libcuda.so.1.2",
		 "\177ELF and no more, as far as it goes, and further on", 0},
		{ENTRY_END, NULL, NULL, 0}};
	const struct {
		struct layer layers[2];
		int rc;
		const char *part;
	} rows[] = {
		{{{.entries = escape}}, 0, ""},
		{{{.entries = text}}, 0, ""},
		{{{.entries = bomb, .filter = LAYER_ZSTD}}, ERROR_LIMIT, "times its size"},
		{{{.entries = escape,
		   .media_type = "application/vnd.oci.image.layer.v1.tar+encrypted"}},
		 ERROR_UNSUPPORTED,
		 "encrypted"},
		{{{.entries = escape, .absent = true}}, ERROR_NOT_FOUND, "layer 1"},
		{{{.entries = escape,
		   .absent = true,
		   .media_type = "application/vnd.oci.image.layer.nondistributable.v1.tar"}},
		 0,
		 ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
		struct error err = {0};
		UNIT_INT(contents_of(rows[i].layers, NULL, &contents, &err), rows[i].rc);
		UNIT_CONTAINS(err.text, rows[i].part);
		if (i == 0)
			CU_ASSERT_PTR_NOT_NULL(find(&contents, "/usr/lib/libcuda.so.9.9"));
		if (i == 1)
			UNIT_INT(contents.files_unread, 1);
		if (i == 5)
			UNIT_INT(contents.layers_absent, 1);
	}
}

UNIT_MAIN("contents", {"libraries", test_libraries}, {"whiteouts", test_whiteouts},
	  {"needs", test_needs}, {"workaround", test_workaround}, {"hostile", test_hostile})
