/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/grant/tests/entries.h"
#include "containers/wine/device.h"
#include "containers/wine/identity.h"
#include "containers/wine/translation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "/var/lib/gpucert/prefix/drive_c"

static char *directory;
static struct wine_node node;

static void make_file(const char *name)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	char *folder CLEANUP_FREE = path_directory(path);
	if (file_make_directories(folder, 0755, NULL) < 0 ||
	    file_write_atomic(path, name, strlen(name), 0644, NULL) < 0)
		abort();
}

static int translate(struct grant_entry *mount, struct grant_entry *device,
		     struct wine_translation *out, struct error *err)
{
	static const char *const command[] = {"probe-vulkan", "--device", "0", NULL};
	static struct grant_entry variable = VARIABLE("NAME", "C:\\value");
	const struct launch_spec spec = {
		.name = "probe",
		.command = command,
		.grant.mounts = {mount, mount != NULL ? 1 : 0},
		.grant.devices = {device, device != NULL ? 1 : 0},
		.grant.envs = {&variable, 1},
		.timeout_ms = 7,
	};
	return wine_translate(&node, &spec, out, err);
}

static void expect_mount(const char *source, const char *target, const char *wanted_source,
			 const char *wanted_target)
{
	struct grant_entry mount = MOUNT(source, target, true);
	struct wine_translation translation CLEANUP_WINE_TRANSLATION = {0};
	char *place CLEANUP_FREE = path_join(directory, wanted_source);
	struct error err = {0};
	UNIT_INT(translate(&mount, NULL, &translation, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_NEED(translation.spec.grant.mounts.count == 1);
	UNIT_STRING(translation.spec.grant.mounts.items[0].host_path, place);
	UNIT_STRING(translation.spec.grant.mounts.items[0].container_path, wanted_target);
	CU_ASSERT_TRUE(translation.spec.grant.mounts.items[0].read_only);
}

static void test_mounts(void)
{
	char *on_z CLEANUP_FREE = text_format("z:%s/plain.txt", directory);
	expect_mount("C:\\Windows\\System32\\DriverStore\\a.dll",
		     "C:\\WINDOWS\\system32\\Vulkan-1.dll",
		     "node/files/drive_c/windows/system32/DriverStore/a.dll",
		     PREFIX "/windows/system32/vulkan-1.dll");
	expect_mount("c:/windows/SYSTEM32/kernel32.dll", "C:/New/Folder\\File.DLL",
		     "root" PREFIX "/windows/system32/kernel32.dll", PREFIX "/new/folder/file.dll");
	expect_mount("C:\\Windows", "C:\\Windows\\Extra", "node/files/drive_c/windows",
		     PREFIX "/windows/extra");
	expect_mount(on_z, "C:\\x", "plain.txt", PREFIX "/x");
	expect_mount("Z:\\usr\\share\\icd.json", "C:\\x", "root/usr/share/icd.json", PREFIX "/x");
}

static void expect_mount_refused(const char *source, const char *target, int code,
				 const char *reason)
{
	struct grant_entry mount = MOUNT(source, target, true);
	struct wine_translation translation = {0};
	struct error err = {0};
	UNIT_INT(translate(&mount, NULL, &translation, &err), code);
	UNIT_CONTAINS(err.text, reason);
	CU_ASSERT_PTR_NULL(translation.spec.grant.mounts.items);
}

static void test_hostile_mounts(void)
{
	static const char *const targets[][2] = {
		{"C:\\", "root of the drive"},
		{"C:\\Windows\\..\\..\\etc", "'..' steps up"},
		{"C:\\a.dll:stream", "alternate data stream"},
		{"\\\\server\\share\\a.dll", "network or device"},
		{"\\\\?\\C:\\a.dll", "network or device"},
		{"D:\\a.dll", "no drive but C:"},
		{"Z:\\etc\\passwd", "no drive but C:"},
		{"/usr/lib/a.so", "root of a drive"},
		{"C:\\windows\\out\\passwd", "leads out of"},
		{"", "empty"},
	};
	static const char *const sources[][2] = {
		{"C:\\Windows\\System32\\DriverStore\\..\\a.dll", "'..' steps up"},
		{"C:\\Windows\\System32\\DriverStore\\a.dll:x", "alternate data stream"},
		{"\\\\server\\share\\a.dll", "network or device"},
		{"/etc/passwd", "root of a drive"},
		{"C:\\windows\\out\\passwd", "leads out of"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		expect_mount_refused("C:\\windows", targets[i][0], ERROR_ARGUMENT, targets[i][1]);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		expect_mount_refused(sources[i][0], "C:\\x", ERROR_ARGUMENT, sources[i][1]);
	expect_mount_refused("C:\\windows\\missing.dll", "C:\\x", ERROR_NOT_FOUND,
			     "does not exist");
	expect_mount_refused("D:\\a.dll", "C:\\x", ERROR_NOT_FOUND, "does not exist");
}

static void test_devices(void)
{
	static const struct {
		const char *host_path;
		int code;
		const char *reason;
	} cases[] = {
		{"vpci-location-path://PCIROOT(0)#PCI(FF00)", ERROR_NOT_FOUND, "none there"},
		{"vpci-location-path://", ERROR_ARGUMENT, "no id"},
		{"class/00000000-0000-0000-0000-000000000000", ERROR_NOT_FOUND, "of that class"},
		{"class://", ERROR_ARGUMENT, "no id"},
		{"/dev/dri/renderD128", ERROR_ARGUMENT, "neither IDType://ID"},
		{"", ERROR_ARGUMENT, "neither IDType://ID"},
		/* The root of this test has no drivers: no device without its drivers. */
		{"vpci-location-path://pciroot(0)#pci(0100)", ERROR_NOT_FOUND, "has no lavapipe"},
		{"class/5b45201d-f2f2-4f3b-85bb-30ff1f953599", ERROR_NOT_FOUND, "has no lavapipe"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct grant_entry device = DEVICE(cases[i].host_path, "", "");
		struct wine_translation translation = {0};
		struct error err = {0};
		UNIT_INT(translate(NULL, &device, &translation, &err), cases[i].code);
		UNIT_CONTAINS(err.text, cases[i].reason);
	}
}

static void test_program(void)
{
	static const char *const wanted[] = {"/usr/local/sbin/wine-run",
					     "--inside-root",
					     "/",
					     "",
					     "86400",
					     "yes",
					     "Z:/libexec/gpucert/probe-vulkan.exe",
					     "--device",
					     "0",
					     NULL};
	struct wine_translation translation CLEANUP_WINE_TRANSLATION = {0};
	struct error err = {0};
	UNIT_INT(translate(NULL, NULL, &translation, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wanted) - 1; i++) {
		UNIT_NEED(translation.spec.command[i] != NULL);
		UNIT_STRING(translation.spec.command[i], wanted[i]);
	}
	CU_ASSERT_PTR_NULL(translation.spec.command[ARRAY_SIZE(wanted) - 1]);
	UNIT_INT(translation.spec.grant.envs.count, 1);
	UNIT_STRING(translation.spec.grant.envs.items[0].value, "C:\\value");
	UNIT_INT(translation.spec.grant.devices.count, 0);
	UNIT_INT(translation.spec.timeout_ms, 7);
	UNIT_STRING(translation.spec.name, "probe");
}

static void test_registry(void)
{
	char *path CLEANUP_FREE = path_join(directory, "node.reg");
	char *wide CLEANUP_FREE = NULL;
	char *text CLEANUP_FREE = NULL;
	size_t size = 0;
	UNIT_INT(wine_registry_write(path, NULL), 0);
	UNIT_INT(file_read(path, 65536, &wide, &size, NULL), 0);
	/* UTF-16, little-endian, with its mark. */
	CU_ASSERT_EQUAL(memcmp(wide, "\xff\xfeW\0i\0", 6), 0);
	text = calloc(size / 2 + 1, 1);
	for (size_t i = 1; text != NULL && i < size / 2; i++)
		text[i - 1] = wide[2 * i];
	CU_ASSERT_TRUE(text_starts_with(text, "Windows Registry Editor Version 5.00\r\n"));
	/* "PCIROOT(0)#PCI(0200)" begins; its list ends with two NULs. */
	UNIT_CONTAINS(text, "\\00000001\\Properties\\{A45C254E-DF1C-4EFD-8020-67D146A850E0}\\0025]"
			    "\r\n@=hex(ffff2012):50,00,43,00,49,00,52,00");
	UNIT_CONTAINS(text, "29,00,00,00,00,00\r\n");
	UNIT_CONTAINS(text, "\\0002]\r\n@=hex(ffff0009):02,10,00,00,00,00,00,00\r\n");
	UNIT_CONTAINS(text, "\"Umd\"=\"gpucert_umd64.dll\"\r\n");
}

static int suite_begin(void)
{
	char *link CLEANUP_FREE = NULL;
	if (file_make_temporary("/tmp", "translation-", &directory, NULL) < 0)
		return 1;
	make_file("root" PREFIX "/windows/system32/kernel32.dll");
	make_file("root/usr/share/icd.json");
	make_file("node/files/drive_c/windows/system32/DriverStore/a.dll");
	make_file("plain.txt");
	make_file("dlls/wined3d.dll");
	make_file("dlls/directml.dll");
	make_file("dlls/licence.txt");
	char *root CLEANUP_FREE = path_join(directory, "root");
	char *place CLEANUP_FREE = path_join(directory, "node");
	node.root = arena_string(&node.arena, root);
	node.directory = arena_string(&node.arena, place);
	link = path_join(directory, "root" PREFIX "/windows/out");
	return symlink("/etc", link);
}

static void test_version_of_vkd3d(void)
{
	static const char with[] = "vkd3d \0 vkd3d-shader 1.13 vkd3d vkd3d 1.14 (Wine bundled)";
	static const char without[] = "a vkd3d vkd3d-shader 1.14 vkd3d ";
	char *version CLEANUP_FREE = wine_vkd3d_version(with, sizeof(with) - 1);
	char *none CLEANUP_FREE = wine_vkd3d_version(without, sizeof(without) - 1);
	UNIT_STRING(version, "1.14");
	CU_ASSERT_PTR_NULL(none);
}

static void test_parser_of_dxil(void)
{
	static const char with[] =
		"\0vkd3d 1.14 (Wine bundled, with its experimental DXIL parser).";
	static const char without[] = "\0vkd3d 1.14 (Wine bundled).\0Creating a DXIL parser.";
	CU_ASSERT_TRUE(wine_vkd3d_has_dxil(with, sizeof(with) - 1));
	CU_ASSERT_FALSE(wine_vkd3d_has_dxil(without, sizeof(without) - 1));
	CU_ASSERT_FALSE(wine_vkd3d_has_dxil(
		with, sizeof("\0vkd3d 1.14 (Wine bundled, with its experimental DXIL")));
}

static void test_folders_of_dlls(void)
{
	char *folder CLEANUP_FREE = path_join(directory, "dlls");
	char *none CLEANUP_FREE = path_join(directory, "root");
	char *missing CLEANUP_FREE = path_join(directory, "missing");
	struct text_list dlls CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	UNIT_INT(wine_dlls_list(folder, &dlls, &err), 0);
	UNIT_INT(dlls.count, 2);
	UNIT_STRING(path_base(dlls.items[0]), "directml.dll");
	UNIT_STRING(path_base(dlls.items[1]), "wined3d.dll");
	UNIT_INT(wine_dlls_list(missing, &dlls, NULL), ERROR_NOT_FOUND);
	text_list_free(&dlls);
	UNIT_INT(wine_dlls_list(NULL, &dlls, NULL), 0);
	UNIT_INT(wine_dlls_list("", &dlls, NULL), 0);
	UNIT_INT(dlls.count, 0);
	UNIT_INT(wine_dlls_list(none, &dlls, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/root contains no *.dll");
}

static int suite_end(void)
{
	int rc = file_remove_tree(directory, NULL);
	wine_node_free(&node);
	free(directory);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"mounts", test_mounts},
		{"hostile mounts", test_hostile_mounts},
		{"devices that cannot be had", test_devices},
		{"the program and what is handed on", test_program},
		{"what is planted into the registry", test_registry},
		{"the version of vkd3d", test_version_of_vkd3d},
		{"the parser of DXIL", test_parser_of_dxil},
		{"folders of DLLs", test_folders_of_dlls},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("translation", suite_begin, suite_end, tests);
}
