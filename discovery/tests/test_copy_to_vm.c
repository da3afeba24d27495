/* SPDX-License-Identifier: MIT */
/* Values of the CopyToVm keys, in the shapes that Microsoft documents and in those that drivers and
 * attackers make of them. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/utf16.h"
#include "discovery/windows/copy_to_vm.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_SZ = 1, TYPE_EXPAND_SZ = 2, TYPE_BINARY = 3, TYPE_DWORD = 4, TYPE_MULTI_SZ = 7 };

/* The bytes of `count` characters of ASCII as UTF-16LE. */
static uint8_t *utf16_bytes(const char *text, size_t count)
{
	uint8_t *bytes = calloc(2, count + 1);
	for (size_t i = 0; bytes != NULL && i < count; i++)
		bytes[2 * i] = (uint8_t)text[i];
	return bytes;
}

static void expect_file(uint32_t type, const char *text, size_t count, const char *source,
			const char *destination)
{
	uint8_t *bytes CLEANUP_FREE = utf16_bytes(text, count);
	struct copy_to_vm_file file CLEANUP(copy_to_vm_file_free) = {0};
	struct error err = {0};
	UNIT_INT(copy_to_vm_parse(type, bytes, 2 * count, &file, &err), 0);
	UNIT_STRING(file.source != NULL ? file.source : err.text, source);
	UNIT_STRING(file.destination != NULL ? file.destination : "", destination);
}

static void expect_refused(uint32_t type, const char *text, size_t count, const char *why)
{
	uint8_t *bytes CLEANUP_FREE = utf16_bytes(text, count);
	struct copy_to_vm_file file CLEANUP(copy_to_vm_file_free) = {0};
	struct error err = {0};
	UNIT_INT(copy_to_vm_parse(type, bytes, 2 * count, &file, &err), ERROR_FORMAT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, why));
}

#define MULTI(text)  TYPE_MULTI_SZ, text, sizeof(text)
#define SINGLE(text) TYPE_SZ, text, sizeof(text)

static void test_documented_shapes(void)
{
	expect_file(MULTI("CopyToVm\\softgpu1.dll\0softgpu2.dll\0"), "CopyToVm\\softgpu1.dll",
		    "softgpu2.dll");
	expect_file(MULTI("nvapi64.dll\0"), "nvapi64.dll", "nvapi64.dll");
	expect_file(MULTI("Subdir1\\Subdir2\\softgpu2wow64.dll\0softgpu.dll\0"),
		    "Subdir1\\Subdir2\\softgpu2wow64.dll", "softgpu.dll");
	/* The second string may be empty, which ends the list. */
	expect_file(MULTI("sub\\amdxc64.dll\0\0"), "sub\\amdxc64.dll", "amdxc64.dll");
}

static void test_fault_reg_sz_is_accepted(void)
{
	expect_file(SINGLE("softgpu2.dll"), "softgpu2.dll", "softgpu2.dll");
	expect_file(SINGLE("sub/softgpu2.dll"), "sub\\softgpu2.dll", "softgpu2.dll");
}

static void test_fault_any_size_is_accepted(void)
{
	char text[3000] = "";
	memset(text, 'a', sizeof(text) - 1);
	for (size_t i = 100; i < 2900; i += 100)
		text[i] = '\\';
	text[2900] = '\\';
	UNIT_INT((int)strlen(text), 2999);
	expect_file(TYPE_SZ, text, sizeof(text), text, text + 2901);
}

static void test_missing_terminators(void)
{
	expect_file(TYPE_MULTI_SZ, "a.dll", 5, "a.dll", "a.dll");
	expect_file(TYPE_MULTI_SZ, "a.dll\0b.dll", 11, "a.dll", "b.dll");
	expect_file(TYPE_SZ, "a.dll", 5, "a.dll", "a.dll");
}

static void test_wrong_shapes(void)
{
	static const uint8_t odd[] = {'a', 0, 'b'};
	struct copy_to_vm_file file = {0};
	struct error err = {0};
	expect_refused(MULTI("a.dll\0b.dll\0c.dll\0"), "more than two strings");
	expect_refused(TYPE_MULTI_SZ, "", 0, "empty");
	expect_refused(MULTI("\0"), "empty");
	expect_refused(TYPE_DWORD, "ab", 2, "type is 4");
	expect_refused(TYPE_BINARY, "a.dll", 6, "type is 3");
	expect_refused(TYPE_EXPAND_SZ, "%x%.dll", 8, "type is 2");
	UNIT_INT(copy_to_vm_parse(TYPE_SZ, odd, sizeof(odd), &file, &err), ERROR_FORMAT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "odd"));
}

static void test_fault_source_stays_in_the_store(void)
{
	static const char *const bad[] = {
		"..\\x.dll",
		"a\\..\\..\\x.dll",
		"C:\\Windows\\x.dll",
		"\\x.dll",
		"\\\\host\\s\\x.dll",
		"a\\\\x.dll",
		"x.dll:stream",
		"a/../x.dll",
		".",
		"sub\\",
		"a.dll ",
		"CON",
		"sub\\nul.dll",
		"a*.dll",
		"a\x01.dll",
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		expect_refused(TYPE_SZ, bad[i], strlen(bad[i]) + 1, "inside the driver's folder");
}

static void test_fault_destination_is_a_bare_name(void)
{
	expect_refused(MULTI("a.dll\0..\\b.dll\0"), "bare file name");
	expect_refused(MULTI("a.dll\0drivers\\b.dll\0"), "bare file name");
	expect_refused(MULTI("a.dll\0C:b.dll\0"), "bare file name");
	expect_refused(MULTI("a.dll\0b.dll:s\0"), "bare file name");
	expect_refused(MULTI("a.dll\0com1.dll\0"), "bare file name");
}

static void test_names_beyond_ascii(void)
{
	static const uint8_t bytes[] = {0xE9, 0x00, 0x3D, 0xD8, 0x00, 0xDE, '.', 0, 'd', 0};
	struct copy_to_vm_file file CLEANUP(copy_to_vm_file_free) = {0};
	UNIT_INT(copy_to_vm_parse(TYPE_SZ, bytes, sizeof(bytes), &file, NULL), 0);
	UNIT_STRING(file.source, "\xc3\xa9\xf0\x9f\x98\x80.d");
}

static void test_keys(void)
{
	UNIT_STRING(copy_to_vm_keys[0].name, "CopyToVmOverwrite");
	UNIT_STRING(copy_to_vm_find_key("CopyToVmWhenNewerWow64")->directory,
		    "C:\\Windows\\SysWOW64");
	CU_ASSERT_PTR_NULL(copy_to_vm_find_key("CopyToVm"));
}

UNIT_MAIN("CopyToVm", {"documented shapes", test_documented_shapes},
	  {"fault: REG_SZ was refused", test_fault_reg_sz_is_accepted},
	  {"fault: values over 1024 bytes were refused", test_fault_any_size_is_accepted},
	  {"missing terminators", test_missing_terminators}, {"wrong shapes", test_wrong_shapes},
	  {"fault: '..' led out of the driver store", test_fault_source_stays_in_the_store},
	  {"fault: destinations with folders were taken", test_fault_destination_is_a_bare_name},
	  {"names beyond ASCII", test_names_beyond_ascii}, {"keys", test_keys})
