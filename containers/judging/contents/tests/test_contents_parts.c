/* SPDX-License-Identifier: MIT */
#include "containers/judging/contents/internal.h"

#include "base/cleanup.h"
#include "base/tests/elf_maker.h"
#include "base/tests/unit.h"
#include "containers/judging/contents/tests/pe_maker.h"

#include <elf.h>

enum { STEP = 64 * 1024 };

/* Lets a file pass in steps and reads it by `read` whenever that is worth a try; what it told at last. */
static int pass(const struct text *file,
		int (*read)(const struct byte_source *source, void *out, struct error *err),
		void *out, unsigned *tries, struct error *err)
{
	struct capture capture CLEANUP(capture_end) = {0};
	int rc = ERROR_BUSY;
	capture_begin(&capture, file->size);
	for (size_t at = 0; at < file->size && rc == ERROR_BUSY; at += STEP) {
		const size_t size = file->size - at < STEP ? file->size - at : STEP;
		CU_ASSERT_EQUAL_FATAL(capture_feed(&capture, at, file->data + at, size, NULL), 0);
		if (capture.position < capture.ready)
			continue;
		*err = (struct error){0};
		rc = read(&capture.source, out, err);
		(*tries)++;
	}
	CU_ASSERT_TRUE(capture.kept <= CONTENTS_KEPT_MAX);
	return rc;
}

static int read_version(const struct byte_source *source, void *out, struct error *err)
{
	return pe_version(source, out, err);
}

static int read_elf(const struct byte_source *source, void *out, struct error *err)
{
	return elf_read_from(source, out, err);
}

/* What tells about a file may be far behind its beginning. */
static void test_pe_version(void)
{
	static const uint16_t wanted[4] = {31, 0, 15, 5222};
	static const size_t gaps[] = {0, 1000, 300 << 10, 24 << 20};
	for (size_t i = 0; i < ARRAY_SIZE(gaps); i++) {
		struct text file CLEANUP_TEXT = {0};
		struct error err = {0};
		char version[PE_VERSION_SIZE] = "";
		unsigned tries = 0;
		pe_make(wanted, gaps[i], &file);
		UNIT_INT(pass(&file, read_version, version, &tries, &err), 0);
		UNIT_STRING(version, "31.0.15.5222");
		CU_ASSERT_TRUE(tries <= 3);
	}
}

/* Each byte of a PE file cut off, and each changed, has an outcome. */
static void test_broken_pe(void)
{
	static const uint16_t wanted[4] = {1, 2, 3, 4};
	struct text file CLEANUP_TEXT = {0};
	pe_make(wanted, 0, &file);
	for (size_t i = 0; i < file.size; i++) {
		struct text broken CLEANUP_TEXT = {0};
		struct error err = {0};
		char version[PE_VERSION_SIZE] = "";
		unsigned tries = 0;
		text_append(&broken, file.data, i);
		if (i > 0)
			CU_ASSERT_NOT_EQUAL(pass(&broken, read_version, version, &tries, &err),
					    ERROR_MEMORY);
		text_append(&broken, file.data + i, file.size - i);
		broken.data[i] = (char)~broken.data[i];
		(void)pass(&broken, read_version, version, &tries, &err);
	}
}

static void test_elf(void)
{
	const struct elf_recipe recipe = {.bits = 64,
					  .machine = EM_X86_64,
					  .soname = "libself.so.1",
					  .needed = {"libone.so.1", "libtwo.so.2"}};
	struct elf_info info CLEANUP(elf_info_free) = {0};
	struct text file CLEANUP_TEXT = {0};
	struct error err = {0};
	unsigned tries = 0;
	elf_make(&recipe, &file);
	UNIT_INT(pass(&file, read_elf, &info, &tries, &err), 0);
	UNIT_STRING(info.soname, "libself.so.1");
	UNIT_INT(info.needed.count, 2);
}

static void test_capture(void)
{
	struct capture capture CLEANUP(capture_end) = {0};
	struct error err = {0};
	unsigned char byte = 0;
	size_t got = 0;
	capture_begin(&capture, 100u << 20);
	static const char data[STEP] = "0123456789";
	for (uint64_t at = 0; at < 12u << 20; at += sizeof(data))
		CU_ASSERT_EQUAL_FATAL(capture_feed(&capture, at, data, sizeof(data), &err), 0);
	UNIT_INT(capture.source.read_at(&capture, 9, &byte, 1, &got, &err), 0);
	UNIT_INT(byte, '9');
	/* Neither kept nor to come. */
	UNIT_INT(capture.source.read_at(&capture, 10u << 20, &byte, 1, &got, &err), ERROR_LIMIT);
	UNIT_INT(capture.source.read_at(&capture, 50u << 20, &byte, 1, &got, &err), ERROR_BUSY);
	UNIT_INT(capture.ready, (50u << 20) + 1);
	/* A hole is zeros. */
	UNIT_INT(capture_feed(&capture, 60u << 20, data, sizeof(data), &err), 0);
	UNIT_INT(capture_feed(&capture, 1, data, 1, &err), ERROR_FORMAT);
	UNIT_INT(capture.source.expect(&capture, 61u << 20, 12u << 20, &err), ERROR_LIMIT);
}

static void test_components(void)
{
	static const struct {
		const char *path, *component, *version;
	} rows[] = {
		{"/usr/lib/libcuda.so.535.183.01", "cuda", "535.183.01"},
		{"/usr/lib/libcuda.so.1", "cuda", ""},
		{"/usr/lib/libnvidia-ml.so.550.54.15", "nvml", "550.54.15"},
		{"/usr/lib/libnvidia-ptxjitcompiler.so.550.54.15", "nvidia", "550.54.15"},
		{"/usr/lib/libcudnn.so.8.9.7", "cudnn", "8.9.7"},
		{"/usr/lib/x86_64-linux-gnu/dri/iHD_drv_video.so", "va-driver", ""},
		{"/Files/Windows/System32/nvcuda64.DLL", "cuda", ""},
		{"/etc/OpenCL/vendors/pocl.icd", "opencl", ""},
		{"/lib/ld-musl-x86_64.so.1", "musl", ""},
		{"/usr/lib/libpng16.so.16.39.0", NULL, "16.39.0"},
		{"/etc/vendors/pocl.icd", NULL, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct component *component = component_find(rows[i].path);
		UNIT_STRING(component != NULL ? component->name : "",
			    rows[i].component != NULL ? rows[i].component : "");
		UNIT_STRING(component_version(rows[i].path), rows[i].version);
	}
}

static void test_workaround(void)
{
	static const struct {
		const char *text;
		bool found;
	} rows[] = {
		{"robocopy C:\\Windows\\System32\\HostDriverStore C:\\Windows\\System32 nv*.dll",
		 true},
		{"COPY-ITEM c:/windows/system32/hostdriverstore/filerepository/x c:/windows/system32",
		 true},
		{"dir C:\\Windows\\System32\\HostDriverStore", false},
		{"copy a.dll C:\\Windows\\System32", false},
		{"", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(workaround_found(rows[i].text, strlen(rows[i].text)),
				rows[i].found);
	CU_ASSERT_TRUE(workaround_is_script("/Files/START.PS1"));
	CU_ASSERT_FALSE(workaround_is_script("/Files/start.ps10"));
}

UNIT_MAIN("contents parts", {"PE version", test_pe_version}, {"broken PE files", test_broken_pe},
	  {"ELF", test_elf}, {"capture", test_capture}, {"components", test_components},
	  {"workaround", test_workaround})
