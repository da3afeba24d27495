/* SPDX-License-Identifier: MIT */
/* The rules of Windows: builds by runtime and isolation, editions, devices, schemas, indexes. */
#include "base/text.h"
#include "containers/judging/compat/tests/rules_rig.h"

static const struct compat_options process_isolation;

/* "10.0.BUILD.1" as host and image. */
static void expect_build(unsigned on, unsigned of, const struct compat_options *options,
			 int verdict, const char *says)
{
	char host_version[32] = "";
	char image_version[32] = "";
	(void)snprintf(host_version, sizeof(host_version), "10.0.%u.1", on);
	(void)snprintf(image_version, sizeof(image_version), "10.0.%u.1", of);
	struct host_facts facts = host("windows", host_version, NULL, 0);
	struct image image = IMAGE(WINDOWS(image_version), NO_VARIABLE);
	EXPECT(&image, NULL, &facts, options, "windows.build", verdict, says);
}

/* hcsshim's vectors and those derived with its rule, through each runtime's own. What is refused runs
 * with Hyper-V isolation where Microsoft's table says so. */
static void test_vectors(void)
{
	static const struct {
		unsigned host, image;
		int any, containerd17, containerd20, containerd2x, docker;
	} rows[] = {
#define W COMPAT_WORKS
#define U COMPAT_UNKNOWN
#define H COMPAT_HYPERV
#define N COMPAT_CANNOT_WORK
		{17763, 17763, W, W, W, W, W}, {17763, 20348, N, N, N, N, N},
		{20348, 17763, H, H, H, H, H}, {20348, 20348, W, W, W, W, W},
		{22621, 17763, H, H, H, H, H}, {22621, 20348, W, H, W, W, W},
		{25398, 17763, N, N, N, N, N}, {25398, 20348, W, N, W, W, W},
		{26100, 20348, W, H, U, W, W}, {20348, 26100, N, N, N, N, N},
		{20348, 22621, N, N, N, N, N}, {26100, 22621, W, N, U, W, W},
		{26100, 26100, W, W, W, W, W}, {26200, 26100, W, H, W, W, W},
		{26200, 20348, U, H, U, H, U}, {28000, 26100, W, H, W, W, W},
		{28000, 20348, U, H, U, H, U}, {19045, 20348, N, N, N, N, N},
		{19045, 17763, H, H, H, H, H}, {22631, 26100, H, H, H, H, H},
#undef W
#undef U
#undef H
#undef N
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const int wanted[] = {
			[COMPAT_RUNTIME_ANY] = rows[i].any,
			[COMPAT_CONTAINERD_17] = rows[i].containerd17,
			[COMPAT_CONTAINERD_20] = rows[i].containerd20,
			[COMPAT_CONTAINERD_2X] = rows[i].containerd2x,
			[COMPAT_DOCKER] = rows[i].docker,
		};
		for (int runtime = 0; runtime < (int)ARRAY_SIZE(wanted); runtime++) {
			struct compat_options options = {.runtime = (enum compat_runtime)runtime};
			unsigned before = CU_get_number_of_failures();
			expect_build(rows[i].host, rows[i].image, &options, wanted[runtime], "");
			if (CU_get_number_of_failures() != before)
				(void)printf("host %u, image %u, %s\n", rows[i].host, rows[i].image,
					     compat_runtime_names[runtime]);
		}
	}
}

static void test_reasons(void)
{
	struct compat_options docker = {.runtime = COMPAT_DOCKER};
	struct compat_options hyperv = {.isolation = COMPAT_HYPERV_ISOLATION};
	expect_build(26200, 20348, &docker, COMPAT_UNKNOWN, "moby #53397");
	expect_build(
		26200, 20348, &process_isolation, COMPAT_UNKNOWN,
		"image 10.0.20348.1 on host 10.0.26200.1: Microsoft's table says that it runs");
	expect_build(20348, 17763, &process_isolation, COMPAT_HYPERV, "Hyper-V isolation runs it");
	expect_build(17763, 20348, &process_isolation, COMPAT_CANNOT_WORK,
		     "the image is newer than the host; Hyper-V isolation does not run it either");
	expect_build(20348, 17763, &hyperv, COMPAT_WORKS, "Hyper-V isolation runs it");
	expect_build(20348, 26100, &hyperv, COMPAT_CANNOT_WORK, "");
	expect_build(25398, 20348, &hyperv, COMPAT_UNKNOWN, "not published");
	struct host_facts facts = host("windows", "10.0.20348.2582", NULL, 0);
	struct image image = IMAGE(WINDOWS(""), NO_VARIABLE);
	EXPECT(&image, NULL, &facts, NULL, "windows.build", COMPAT_UNKNOWN,
	       "os.version of the image is not known");
	image.platform.os_version = "10.0.99999999999.1";
	EXPECT(&image, NULL, &facts, NULL, "windows.build", COMPAT_CANNOT_WORK, "os.version");
	image.platform.os_version = "6.3.20348.1";
	EXPECT(&image, NULL, &facts, NULL, "windows.build", COMPAT_CANNOT_WORK, "");
	image.platform.os_version = "10.0.14393.100";
	struct host_facts old = host("windows", "10.0.14393.200", NULL, 0);
	EXPECT(&image, NULL, &old, NULL, "windows.build", COMPAT_HYPERV, "own revision");
	EXPECT(&image, NULL, &old, NULL, "windows.isolation", COMPAT_CANNOT_WORK, "17763");
	EXPECT(&image, NULL, &facts, &hyperv, "windows.isolation", COMPAT_HYPERV, "");
	EXPECT(&image, NULL, &facts, NULL, "windows.isolation", NOTHING, "");
}

static void test_editions(void)
{
	static const struct {
		const char *base, *host;
		enum compat_api api;
		int verdict;
	} rows[] = {
		{"mcr.microsoft.com/windows/server:ltsc2022", "20348", COMPAT_API_DIRECTX,
		 COMPAT_WORKS},
		{"mcr.microsoft.com/windows/server:ltsc2022", "20348", COMPAT_API_ANY,
		 COMPAT_WORKS},
		{"mcr.microsoft.com/windows/server:ltsc2022", "20348", COMPAT_API_CUDA,
		 COMPAT_UNKNOWN},
		{"mcr.microsoft.com/windows/server:ltsc2025", "26100", COMPAT_API_CUDA,
		 COMPAT_WORKS},
		{"mcr.microsoft.com/windows/servercore:ltsc2025", "26100", COMPAT_API_CUDA,
		 COMPAT_WORKS},
		{"mcr.microsoft.com/windows/servercore:ltsc2022", "20348", COMPAT_API_CUDA,
		 COMPAT_UNKNOWN},
		{"mcr.microsoft.com/windows/servercore@sha256:00", "20348", COMPAT_API_DIRECTX,
		 COMPAT_UNKNOWN},
		{"mcr.microsoft.com/windows/nanoserver:ltsc2022", "20348", COMPAT_API_DIRECTX,
		 COMPAT_CANNOT_WORK},
		{"mcr.microsoft.com/windows/nanoserver:ltsc2025", "26100", COMPAT_API_CUDA,
		 COMPAT_CANNOT_WORK},
		{"mcr.microsoft.com/windows:1809", "17763", COMPAT_API_DIRECTX, COMPAT_WORKS},
		{"mcr.microsoft.com/windows:1809", "17763", COMPAT_API_OTHER, COMPAT_UNKNOWN},
		{"mcr.microsoft.com/windows/insider:10", "26100", COMPAT_API_ANY, COMPAT_UNKNOWN},
		{"example.com/windows/server:1", "20348", COMPAT_API_DIRECTX, COMPAT_UNKNOWN},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct image image = IMAGE(WINDOWS("10.0.20348.1"), NO_VARIABLE);
		struct json_pair label = {"org.opencontainers.image.base.name", rows[i].base};
		struct host_facts facts = host("windows", rows[i].host, NULL, 0);
		struct compat_options options = {.api = rows[i].api};
		image.labels = &label;
		image.label_count = 1;
		EXPECT(&image, NULL, &facts, &options, "windows.edition", rows[i].verdict, "");
	}
	struct image image = IMAGE(WINDOWS("10.0.26100.1"), {"CUDA_VERSION", "12.4"});
	struct host_facts facts = host("windows", "26100", NULL, 0);
	image.reference = "mcr.microsoft.com/windows/servercore:ltsc2025";
	EXPECT(&image, NULL, &facts, NULL, "windows.edition", COMPAT_WORKS, "CUDA");
}

#define CLASS "5B45201D-F2F2-4F3B-85BB-30FF1F953599"

/* hcsshim's table of device types, in both isolation modes. */
static void test_devices(void)
{
	static const struct {
		const char *device;
		int process, hyperv;
	} rows[] = {
		{"class/" CLASS, COMPAT_WORKS, COMPAT_HYPERV},
		{"class://" CLASS, COMPAT_WORKS, COMPAT_HYPERV},
		{"vpci-class-guid://" CLASS, COMPAT_WORKS, COMPAT_HYPERV},
		{"vpci-location-path://PCIROOT(0)#PCI(0300)", COMPAT_WORKS, COMPAT_HYPERV},
		{"vpci-instance-id://PCI\\VEN_10DE", COMPAT_CANNOT_WORK, COMPAT_WORKS},
		{"vpci://PCI\\VEN_10DE", COMPAT_CANNOT_WORK, COMPAT_WORKS},
		{"gpu://0", COMPAT_CANNOT_WORK, COMPAT_WORKS},
		{"usb://1", COMPAT_CANNOT_WORK, COMPAT_CANNOT_WORK},
		{"PCIROOT(0)#PCI(0300)", COMPAT_CANNOT_WORK, COMPAT_CANNOT_WORK},
		{"", COMPAT_CANNOT_WORK, COMPAT_CANNOT_WORK},
		{"://x", COMPAT_CANNOT_WORK, COMPAT_CANNOT_WORK},
		{"vpci-location-path://", COMPAT_UNKNOWN, COMPAT_UNKNOWN},
		{"class/", COMPAT_UNKNOWN, COMPAT_UNKNOWN},
		{"class/NVIDIA", COMPAT_UNKNOWN, COMPAT_HYPERV},
	};
	struct image image = IMAGE(WINDOWS("10.0.20348.1"), NO_VARIABLE);
	struct host_facts facts = host("windows", "10.0.20348.2582", NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct compat_options options = {.device = rows[i].device};
		EXPECT(&image, NULL, &facts, &options, "windows.device-type", rows[i].process, "");
		options.isolation = COMPAT_HYPERV_ISOLATION;
		EXPECT(&image, NULL, &facts, &options, "windows.device-type", rows[i].hyperv, "");
	}
	struct compat_options docker = {.runtime = COMPAT_DOCKER, .device = "gpu"};
	EXPECT(&image, NULL, &facts, &docker, "windows.device-type", COMPAT_CANNOT_WORK,
	       "must be 'class/ID' or 'IDType://ID'");
}

static void expect_schema(const char *build, const char *schema, const char *device, int verdict,
			  const char *says)
{
	struct image image = IMAGE(WINDOWS("10.0.20348.1"), NO_VARIABLE);
	struct host_facts facts = host("windows", build, NULL, 0);
	struct compat_options options = {.device = device};
	facts.hcs_schema = schema;
	EXPECT(&image, NULL, &facts, &options, "windows.device-schema", verdict, says);
}

static void test_schemas(void)
{
	static const char path[] = "vpci-location-path://PCIROOT(0)#PCI(0300)";
	expect_schema("17763", "", path, COMPAT_CANNOT_WORK,
		      "need HCS schema 2.2, build 17763 has 2.1: 0x8037010D");
	expect_schema("17763", "", "class/" CLASS, COMPAT_WORKS, "need HCS schema 2.1");
	expect_schema("18362", "", path, COMPAT_WORKS, "2.2");
	expect_schema("20348", "", path, COMPAT_WORKS, "at least 2.3");
	expect_schema("26100", "", path, COMPAT_WORKS, "at least 2.11");
	expect_schema("14393", "", "class/" CLASS, COMPAT_CANNOT_WORK, "has 1.0");
	expect_schema("20348", "2.1", path, COMPAT_CANNOT_WORK,
		      "has 2.1"); /* as the host itself says */
	expect_schema("10240", "", path, COMPAT_UNKNOWN, "at least 1.0");
	expect_schema("20348", "", "gpu://0", NOTHING, "");
}

static void test_driver_model(void)
{
	struct host_gpu device = gpu("nvidia", "Tesla T4", "24.21.13.9811");
	struct host_facts facts = host("windows", "17763", &device, 1);
	struct image image = IMAGE(WINDOWS("10.0.17763.1"), NO_VARIABLE);
	EXPECT(&image, NULL, &facts, NULL, "windows.wddm", NOTHING, "");
	device.wddm = "2.4";
	EXPECT(&image, NULL, &facts, NULL, "windows.wddm", COMPAT_CANNOT_WORK, "WDDM 2.4");
	device.wddm = "2.5";
	EXPECT(&image, NULL, &facts, NULL, "windows.wddm", COMPAT_WORKS, "2.5");
}

static void test_limits(void)
{
	struct host_gpu device = gpu("nvidia", "Tesla T4", "31.0.15.5222");
	struct host_facts facts = host("windows", "10.0.20348.2582", &device, 1);
	struct image image = IMAGE(WINDOWS("10.0.20348.1"), NO_VARIABLE);
	struct compat_options options = {.device = "vpci-location-path://PCIROOT(0)"};
	EXPECT(&image, NULL, &facts, &options, "windows.known-limits", COMPAT_WORKS, "every GPU");
	options = (struct compat_options){.api = COMPAT_API_OTHER};
	EXPECT(&image, NULL, &facts, &options, "windows.known-limits", COMPAT_WORKS, "Vulkan");
	EXPECT(&image, NULL, &facts, NULL, "windows.known-limits", NOTHING, "");
	struct host_facts on_linux = host("linux", "", &device, 1);
	EXPECT(&image, NULL, &on_linux, &options, "windows.known-limits", NOTHING, "");
}

#define ENTRY(system, machine, build)                                                              \
	{                                                                                          \
		.platform = { system, machine, "", build }                                         \
	}

/* -1: none of them. */
static void expect_entry(struct image_index_entry *entries, size_t count, const char *build,
			 enum compat_runtime runtime, int wanted)
{
	struct image_index index = {.entries = entries, .count = count};
	struct host_facts facts = host("windows", build, NULL, 0);
	struct compat_options options = {.runtime = runtime};
	const struct image_index_entry *entry = compat_select(&index, &facts, &options, NULL);
	UNIT_INT(entry != NULL ? entry - entries : -1, wanted);
}

/* 887 sorts above 2582 as a string, and 10.0.20348.x fits 25398 and later. */
static void test_select(void)
{
	struct image_index_entry entries[] = {
		ENTRY("linux", "amd64", ""),
		ENTRY("windows", "amd64", "10.0.17763.5329"),
		ENTRY("windows", "amd64", "10.0.20348.887"),
		ENTRY("windows", "amd64", "10.0.20348.2582"),
		ENTRY("windows", "amd64", "10.0.26100.1742"),
		ENTRY("windows", "arm64", "10.0.26100.1"),
	};
	expect_entry(entries, 6, "10.0.20348.1", COMPAT_RUNTIME_ANY, 3);
	expect_entry(entries, 6, "10.0.26100.1", COMPAT_RUNTIME_ANY, 4);
	expect_entry(entries, 6, "10.0.22631.1", COMPAT_CONTAINERD_2X, 3);
	expect_entry(entries, 6, "10.0.22631.1", COMPAT_CONTAINERD_17, -1);
	expect_entry(entries, 6, "10.0.17763.1", COMPAT_DOCKER, 1);
	expect_entry(entries, 4, "10.0.26200.1", COMPAT_RUNTIME_ANY,
		     3); /* disputed, and no other */
	expect_entry(entries, 6, "10.0.26200.1", COMPAT_RUNTIME_ANY, 4);
	expect_entry(entries, 4, "10.0.26200.1", COMPAT_CONTAINERD_2X, -1);
	expect_entry(entries, 0, "10.0.26200.1", COMPAT_CONTAINERD_2X, -1);
}

static void test_no_match(void)
{
	struct compat_answer answer CLEANUP_COMPAT_ANSWER = {0};
	struct image_index_entry entries[] = {ENTRY("linux", "amd64", ""),
					      ENTRY("windows", "amd64", "10.0.20348.2582"),
					      ENTRY("windows", "amd64", "x")};
	const struct image_index index = {.entries = entries, .count = 3};
	struct host_facts facts = host("windows", "10.0.26200.6584", NULL, 0);
	struct compat_options options = {.runtime = COMPAT_CONTAINERD_2X};
	CU_ASSERT_PTR_NULL(compat_select(&index, &facts, &options, &answer));
	UNIT_NEED(answer.count == 4);
	UNIT_INT(compat_answer_verdict(&answer), COMPAT_CANNOT_WORK);
	UNIT_STRING(answer.findings[0].rule, "platform.no-match");
	UNIT_STRING(answer.findings[0].reason,
		    "no matching manifest for windows/amd64 10.0.26200.6584: "
		    "none of 3 entries fits");
	UNIT_CONTAINS(answer.findings[0].advice, "A host that builds");
	UNIT_STRING(answer.findings[1].reason, "linux/amd64: another operating system");
	UNIT_STRING(
		answer.findings[2].reason,
		"windows/amd64 10.0.20348.2582: hosts below build 20348 accept only their own build, "
		"later ones images from the last long-term release before them on");
	UNIT_CONTAINS(answer.findings[3].reason, "not a version of Windows");
}

/* An index with more entries than anyone reads. */
static void test_huge_index(void)
{
	static struct image_index_entry entries[1000];
	struct compat_answer answer CLEANUP_COMPAT_ANSWER = {0};
	const struct image_index index = {.entries = entries, .count = ARRAY_SIZE(entries)};
	struct host_facts facts = host("windows", "10.0.26200.6584", NULL, 0);
	static char variants[ARRAY_SIZE(entries)][8];
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		(void)snprintf(variants[i], sizeof(variants[i]), "%zu", i);
		entries[i] = (struct image_index_entry)ENTRY("linux", "arm", "");
		entries[i].platform.variant = variants[i];
	}
	CU_ASSERT_PTR_NULL(compat_select(&index, &facts, &process_isolation, &answer));
	UNIT_INT(answer.count, 34);
	UNIT_STRING(answer.findings[33].reason, "and 968 other entries");
}

UNIT_MAIN("rules of Windows", {"vectors", test_vectors}, {"reasons", test_reasons},
	  {"editions", test_editions}, {"devices", test_devices}, {"schemas", test_schemas},
	  {"driver model", test_driver_model}, {"known limits", test_limits},
	  {"entry of an index", test_select}, {"no matching manifest", test_no_match},
	  {"huge index", test_huge_index})
