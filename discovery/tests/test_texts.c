/* SPDX-License-Identifier: MIT */
/* The small formats that discovery on Linux reads. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "discovery/linux/kfd.h"
#include "discovery/linux/library_version.h"
#include "discovery/linux/linker_script.h"
#include "discovery/linux/manifest.h"
#include "discovery/linux/nvidia_text.h"
#include "discovery/linux/pci.h"
#include "discovery/linux/virtio.h"

#include <stdlib.h>
#include <unistd.h>

static void expect_vulkan(const char *text, const char *library, const char *version,
			  const char *error)
{
	struct vulkan_icd icd CLEANUP_VULKAN_ICD = {0};
	struct error err = {0};
	int rc = vulkan_icd_parse(text, strlen(text), &icd, &err);
	UNIT_STRING(err.text, error);
	if (rc < 0)
		return;
	UNIT_STRING(icd.library_path, library);
	UNIT_STRING(icd.api_version, version);
}

static void test_vulkan_manifests(void)
{
	expect_vulkan("{\"file_format_version\": \"1.0.1\", \"ICD\": {\"library_path\": "
		      "\"libvulkan_lvp.so\", \"api_version\": \"1.3.230\", \"new\": true}}",
		      "libvulkan_lvp.so", "1.3.230", "");
	expect_vulkan("{\"ICD\": {\"library_path\": \"../x.so\"}}", "../x.so", "", "");
	expect_vulkan("{\"ICD\": {\"library_path\": \"\"}}", "", "", "ICD.library_path: is empty");
	expect_vulkan("{\"ICD\": {}}", "", "", "ICD.library_path: missing, expected string");
	expect_vulkan("{\"ICD\": []}", "", "", "ICD: expected object");
	expect_vulkan("{\"layer\": {}}", "", "", "ICD: missing, expected object");
	expect_vulkan("{\"ICD\": {\"library_path\": \"a\", \"api_version\": 1}}", "", "",
		      "ICD.api_version: expected string");
	expect_vulkan("{", "", "", "line 1, column 1: not valid JSON");
}

static void expect_opencl(const char *text, size_t size, const char *library, const char *error)
{
	char *seen CLEANUP_FREE = NULL;
	struct error err = {0};
	if (opencl_icd_parse(text, size, &seen, &err) == 0)
		UNIT_STRING(seen, library);
	UNIT_STRING(err.text, error);
}

#define EXPECT_OPENCL(text, library, error) expect_opencl(text, sizeof(text) - 1, library, error)

static void test_opencl_manifests(void)
{
	EXPECT_OPENCL("libpocl.so.2", "libpocl.so.2", "");
	EXPECT_OPENCL("/opt/intel/libintelocl.so\r\nmore\n", "/opt/intel/libintelocl.so", "");
	EXPECT_OPENCL(" \tlibx.so \t\n", "libx.so", "");
	EXPECT_OPENCL("", "", "line 1: names no library");
	EXPECT_OPENCL("\nlibx.so", "", "line 1: names no library");
	EXPECT_OPENCL("lib\0x.so", "", "line 1, column 4: not text");
	EXPECT_OPENCL("lib\xff.so", "", "line 1: not UTF-8");
}

static void test_opencl_manifest_of_any_length(void)
{
	char *text CLEANUP_FREE = malloc(8192);
	if (text == NULL)
		return;
	memset(text, 'x', 8192);
	expect_opencl(text, 8192, "", "line 1: longer than a path");
}

static void expect_inputs(const char *script, const char *wanted)
{
	struct text_list inputs CLEANUP_TEXT_LIST = {0};
	struct text seen CLEANUP_TEXT = {0};
	struct error err = {0};
	(void)linker_script_inputs(script, strlen(script), &inputs, &err);
	text_add_joined(&seen, " ", (const char *const *)inputs.items);
	text_add(&seen, err.text);
	UNIT_STRING(text_string(&seen), wanted);
}

static void test_linker_scripts(void)
{
	struct text many CLEANUP_TEXT = {0};
	expect_inputs("/* GNU ld script ( not this ) */\nOUTPUT_FORMAT(elf64-x86-64)\n"
		      "GROUP ( /lib/libc.so.6 /usr/lib/libc_nonshared.a  AS_NEEDED ( "
		      "/lib64/ld-linux-x86-64.so.2 ) )\n",
		      "/lib/libc.so.6 /usr/lib/libc_nonshared.a /lib64/ld-linux-x86-64.so.2");
	expect_inputs("GROUP(libgcc_s.so.1,-lgcc)", "libgcc_s.so.1 -lgcc");
	expect_inputs("INPUT(a)INPUT(b", "a b");
	expect_inputs("SECTIONS { .text : { *(.text) } }", "");
	expect_inputs("AS_NEEDED x ( y )", "");
	expect_inputs(") ) ( x )", "");
	expect_inputs("/* never closed INPUT(a)", "");
	expect_inputs("/", "");
	text_add(&many, "INPUT(");
	for (int i = 0; i <= LINKER_SCRIPT_INPUTS_MAX; i++)
		text_add(&many, "a ");
	struct text_list inputs CLEANUP_TEXT_LIST = {0};
	UNIT_INT(linker_script_inputs(many.data, many.size, &inputs, NULL), ERROR_LIMIT);
}

static void expect_version(const char *data, const char *wanted)
{
	char version[LIBRARY_VERSION_SIZE] = "";
	(void)library_version_find(data, strlen(data), "Mesa ", version);
	UNIT_STRING(version, wanted);
}

static void expect_whole(const char *data, size_t size, const char *wanted)
{
	char version[LIBRARY_VERSION_SIZE] = "";
	(void)library_version_find_whole(data, size, "25.0.7", version);
	UNIT_STRING(version, wanted);
}

#define EXPECT_WHOLE(data, wanted) expect_whole(data, sizeof(data) - 1, wanted)

static void expect_scanned(const char *data, size_t size, const char *wanted)
{
	char path[] = "/tmp/gpucert-library-XXXXXX", version[LIBRARY_VERSION_SIZE] = "";
	const int file = mkstemp(path);
	CU_ASSERT_TRUE_FATAL(file >= 0);
	CU_ASSERT_EQUAL_FATAL(write(file, data, size), (ssize_t)size);
	(void)close(file);
	library_version_scan(path, "Mesa ", version);
	UNIT_STRING(version, wanted);
	(void)unlink(path);
}

#define EXPECT_SCANNED(data, wanted) expect_scanned(data, sizeof(data) - 1, wanted)
#define BYTES_16		     "0123456789abcde\0"

/* As compilers put the version into Mesa's drivers. */
static void test_versions_of_libraries(void)
{
	EXPECT_SCANNED("%s\00025.0.7-2+deb13u1r600\0Mesa 25.0.7-2+deb13u1\0", "25.0.7-2+deb13u1");
	EXPECT_SCANNED(BYTES_16 "Mesa 25.0.7-2+dert-trampoline\00025.0.7-2+deb13u1\0",
		       "25.0.7-2+deb13u1");
	EXPECT_SCANNED("alue.\00025.0.7-2+deb\0Mesa 25.0.7-2+de\0", "25.0.7-2+de");
	EXPECT_SCANNED("alue\00025.0.7-2+d\0Mesa 25.0.7-2+de\0", "25.0.7-2+d");
	EXPECT_SCANNED(BYTES_16 "Mesa 22.3.6 (LLV6 (LLVM 15.0.6)\00022.3.6.1\0", "22.3.6");
	EXPECT_SCANNED(BYTES_16 "Mesa 25.0.7-2+deb13u1 (LLVM 19.1", "25.0.7-2+deb13u1");
}

static void test_library_versions(void)
{
	EXPECT_WHOLE("Mesa 25.0.7-2+dert-trampoline\0y25.0.7\00025.0.7-2+deb13u1\0",
		     "25.0.7-2+deb13u1");
	EXPECT_WHOLE("\00025.0.7\0", "25.0.7");
	EXPECT_WHOLE("\00025.0.71\00025.0.7 (LLVM)\00025.0.7-cut", "");
	expect_version("Mesa \nMesa X.org\nMesa 22.3.6 (LLVM)", "22.3.6");
	expect_version("Mesa 24.0.0-devel (git-1)", "24.0.0-devel");
	expect_version("Mesa 24.0.0", "");
	expect_version("Mesa 24 ", "");
	expect_version("", "");
	UNIT_STRING(library_version_of_name("/usr/lib/libpocl.so.2.10.0"), "2.10.0");
	UNIT_STRING(library_version_of_name("/usr/lib.so.3/libx.so"), "");
	UNIT_STRING(library_version_of_name("libx.so.debug"), "");
}

static void test_nvidia_texts(void)
{
	struct nvidia_information information = {.minor = -1};
	char *old CLEANUP_FREE = nvidia_version_find(
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.30  Wed\n");
	char *open CLEANUP_FREE = nvidia_version_find(
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45.04  Release\n"
		"GCC version:  gcc version 12.2.0\n");
	char *none CLEANUP_FREE =
		nvidia_version_find("NVRM version: NVIDIA\nKernel Module 1.2.3\n");
	UNIT_STRING(old, "390.30");
	UNIT_STRING(open, "595.45.04");
	CU_ASSERT_PTR_NULL(none);
	nvidia_information_parse("Model: \t\t NVIDIA A100-SXM4-40GB \nDevice Minor: \t 3\n"
				 "GPU Excluded:\t Yes\n",
				 &information);
	UNIT_STRING(information.model, "NVIDIA A100-SXM4-40GB");
	UNIT_INT(information.minor, 3);
	CU_ASSERT_TRUE(information.excluded);
	information = (struct nvidia_information){.minor = -1};
	nvidia_information_parse("Device Minor: 300\nNot Model: x", &information);
	UNIT_STRING(information.model, "");
	UNIT_INT(information.minor, -1);
}

static void expect_pci_name(unsigned vendor, unsigned device, const char *wanted)
{
	static const char text[] = "# pci.ids\n\n0e11  Compaq\n\t0001  Bridge\n\t\t0e11 4020  Sub\n"
				   "10de  NVIDIA Corporation\n\t1eb8  TU104GL [Tesla T4]\n"
				   "10df  Emulex\n\t0720  OneConnect\nC 03  Display controller\n";
	char *name CLEANUP_FREE = pci_ids_find(text, vendor, device);
	UNIT_STRING(name != NULL ? name : "none", wanted);
}

static void test_pci(void)
{
	expect_pci_name(0x10de, 0x1eb8, "TU104GL [Tesla T4]");
	expect_pci_name(0x0e11, 0x0001, "Bridge");
	expect_pci_name(0x10de, 0x0720, "none");
	expect_pci_name(0x0e11, 0x1eb8, "none");
	expect_pci_name(0xffff, 0x0001, "none");
	CU_ASSERT_TRUE(pci_address_is_valid("0000:03:00.0"));
	CU_ASSERT_TRUE(pci_address_is_valid("abcd:ef:1f.7"));
	CU_ASSERT_FALSE(pci_address_is_valid("0000:03:00.8"));
	CU_ASSERT_FALSE(pci_address_is_valid("0000:03:00"));
	CU_ASSERT_FALSE(pci_address_is_valid("0000-03:00.0"));
}

static void test_nvidia_names(void)
{
	static const char *const unknown[] = {
		"GPU UUID: GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
		"GPU UUID: GPU-1fbb6a07-7d5c-11ee-b962-0242ac12000",
		"GPU UUID: GPU-1fbb6a07-7d5c-11ee-b962-0242ac1200022",
		"GPU UUID:",
	};
	struct nvidia_information information = {.minor = -1};
	nvidia_information_parse("GPU UUID: \t GPU-1fbb6a07-7d5c-11ee-b962-0242ac120002\n",
				 &information);
	UNIT_STRING(information.uuid, "GPU-1fbb6a07-7d5c-11ee-b962-0242ac120002");
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		information = (struct nvidia_information){.minor = -1};
		nvidia_information_parse(unknown[i], &information);
		UNIT_STRING(information.uuid, "");
	}
	UNIT_INT(nvidia_capability_minor("DeviceFileMinor: 12\nDeviceFileMode: 292\n"), 12);
	UNIT_INT(nvidia_capability_minor("DeviceFileMinor: -1\n"), -1);
	UNIT_INT(nvidia_capability_minor("DeviceFileMinor: 99999999999999999999\n"), -1);
	UNIT_INT(nvidia_capability_minor("DeviceFileMode: 292\n"), -1);
}

static void test_kfd_nodes(void)
{
	struct kfd_node kfd = {0};
	CU_ASSERT_TRUE(kfd_node_parse("gfx_target_version 90402\nlocation_id 1283\ndomain 1\n"
				      "drm_render_minor 131\n",
				      &kfd));
	UNIT_INT(kfd.render, 131);
	CU_ASSERT_TRUE(kfd_is_compute_only(&kfd));
	CU_ASSERT_TRUE(kfd_is_at(&kfd, "0001:05:00.0"));
	CU_ASSERT_FALSE(kfd_is_at(&kfd, "0000:05:00.0"));
	CU_ASSERT_FALSE(kfd_is_at(&kfd, "0001:05:01.0"));
	CU_ASSERT_FALSE(kfd_is_at(&kfd, ""));
	/* The kernel once wrote the partition into the upper bits. */
	kfd.location = INT64_C(0x30000500);
	CU_ASSERT_TRUE(kfd_is_at(&kfd, "0001:05:00.0"));
	kfd.gfx = 90010;
	CU_ASSERT_TRUE(kfd_is_compute_only(&kfd));
	kfd.gfx = 90006; /* Vega 20 draws, and so does Navi */
	CU_ASSERT_FALSE(kfd_is_compute_only(&kfd));
	kfd.gfx = 110000;
	CU_ASSERT_FALSE(kfd_is_compute_only(&kfd));
	CU_ASSERT_FALSE(kfd_node_parse("cpu_cores_count 8\ngfx_target_version 0\n", &kfd));
	CU_ASSERT_FALSE(kfd_node_parse("xdrm_render_minor 128\ngfx_target_version 90402", &kfd));
	CU_ASSERT_FALSE(kfd_node_parse(
		"drm_render_minor 99999999999999999999\ngfx_target_version 1\n", &kfd));
	CU_ASSERT_FALSE(kfd_node_parse("", &kfd));
}

static void test_virtio_gpus(void)
{
	static const struct {
		int64_t capsets;
		const char *features;
		bool opengl, vulkan;
	} cards[] = {
		{-1, "11", true, false},	 {-1, "01", false, false},
		{-1, "", false, false},		 {-1, "1101100", false, false},
		{0x06, "1101100", true, false},	 {0x16, "1101100", true, true},
		{0x10, "1101100", false, true},	 {0x20, "1101100", false, false},
		{0x16, "0101100", false, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cards); i++) {
		struct virtio_offer offer = virtio_offer(cards[i].capsets, cards[i].features);
		UNIT_INT(offer.opengl, cards[i].opengl);
		UNIT_INT(offer.vulkan, cards[i].vulkan);
	}
}

UNIT_MAIN("texts", {"Vulkan manifests", test_vulkan_manifests},
	  {"OpenCL manifests", test_opencl_manifests},
	  {"OpenCL manifest of any length", test_opencl_manifest_of_any_length},
	  {"linker scripts", test_linker_scripts}, {"library versions", test_library_versions},
	  {"versions of libraries", test_versions_of_libraries},
	  {"NVIDIA texts", test_nvidia_texts}, {"PCI", test_pci},
	  {"what NVIDIA calls a GPU and a capability", test_nvidia_names},
	  {"nodes of amdkfd", test_kfd_nodes}, {"what virtual GPUs offer", test_virtio_gpus})
