/* SPDX-License-Identifier: MIT */
/* Facts of other Linux machines, whose /proc and /sys are made in a folder. */
#include "base/cleanup.h"
#include "base/elf.h"
#include "base/json.h"
#include "base/tests/unit.h"
#include "base/version.h"
#include "containers/judging/compat/host.h"
#include "discovery/tests/tree.h"

#include <gnu/libc-version.h>
#include <gpucert/discovery.h>

static void put(const char *root, const char *path, const char *content)
{
	struct error err = {0};
	UNIT_INT(tree_file(root, path, content, strlen(content), &err), 0);
	UNIT_STRING(err.text, "");
}

/* A tree of discovery's tests, with another version of NVIDIA's module. NULL `version`: as it is. */
static void take(const char *tree, const char *version, struct host_facts *out)
{
	struct error err = {0};
	char *root CLEANUP_TREE = tree_new();
	const struct discovery_options where = {.root = root};
	UNIT_NEED(root != NULL);
	UNIT_INT(tree_add(root, tree, &err), 0);
	if (version != NULL)
		put(root, "proc/driver/nvidia/version", version);
	UNIT_INT(host_facts_local(&where, out, &err), 0);
	UNIT_STRING(err.text, "");
}

static const struct host_gpu *find(const struct host_facts *host, const char *vendor)
{
	for (size_t i = 0; i < host->gpu_count; i++) {
		if (strcmp(host->gpus[i].vendor, vendor) == 0)
			return &host->gpus[i];
	}
	return NULL;
}

/* Both shapes of /proc/driver/nvidia/version. */
static void test_nvidia(void)
{
	static const char *const versions[][2] = {
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.30  Wed Jan 31 22:08:49 PST "
		 "2018\nGCC version: 12\n",
		 "390.30"},
		{"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45.04  Release Build\n",
		 "595.45.04"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct host_facts host CLEANUP_HOST_FACTS = {0};
		take("nvidia", versions[i][0], &host);
		const struct host_gpu *gpu = find(&host, "nvidia");
		UNIT_NEED(gpu != NULL);
		UNIT_STRING(gpu->driver_version, versions[i][1]);
		UNIT_STRING(gpu->driver, "nvidia");
	}
}

/* Modules and PCI devices of any kind. */
static void test_modules_and_pci(void)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct error err = {0};
	char *root CLEANUP_TREE = tree_new();
	const struct discovery_options where = {.root = root};
	UNIT_NEED(root != NULL);
	put(root, "proc/modules",
	    "nvidia_uvm 1503232 2 - Live 0x0000000000000000 (POE)\nvfio_pci 16384 0 - Live 0x0\n");
	put(root, "sys/bus/pci/devices/0000:03:00.0/class", "0x030200\n");
	put(root, "sys/bus/pci/devices/0000:03:00.0/vendor", "0x10de\n");
	put(root, "sys/bus/pci/devices/0000:03:00.0/device", "0x2335\n");
	put(root, "sys/bus/pci/devices/0000:04:00.0/class", "nonsense");
	UNIT_INT(host_facts_local(&where, &host, &err), 0);
	UNIT_NEED(host.modules[0] != NULL && host.modules[1] != NULL && host.pci_count == 2);
	UNIT_STRING(host.modules[0], "nvidia_uvm");
	UNIT_STRING(host.modules[1], "vfio_pci");
	CU_ASSERT_PTR_NULL(host.modules[2]);
	UNIT_STRING(host.pci[0].class_code, "0302");
	UNIT_STRING(host.pci[0].vendor, "10de");
	UNIT_STRING(host.pci[0].device, "2335");
	UNIT_STRING(host.pci[1].class_code, "");
	cJSON *json CLEANUP_JSON = host_facts_to_json(&host);
	UNIT_STRING(json_pointer_string(json, "/pci/0/class"), "0302");
	UNIT_STRING(json_pointer_string(json, "/modules/1"), "vfio_pci");
}

/* KFD's topology names the architecture, by PCI address; the module's version is DKMS's own. */
static void test_amd(void)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct error err = {0};
	char *root CLEANUP_TREE = tree_new();
	const struct discovery_options where = {.root = root};
	UNIT_NEED(root != NULL);
	UNIT_INT(tree_add(root, "amd", &err), 0);
	put(root, "sys/class/kfd/kfd/topology/nodes/0/properties",
	    "cpu_cores_count 16\n"
	    "gfx_target_version 0\n");
	put(root, "sys/class/kfd/kfd/topology/nodes/1/properties",
	    "simd_count 144\ngfx_target_version 100300\nvendor_id 4098\nlocation_id 768\ndomain 0\n");
	put(root, "sys/class/kfd/kfd/topology/nodes/2/properties",
	    "gfx_target_version 90012\nlocation_id 2560\ndomain 0\n");
	put(root, "sys/class/kfd/kfd/topology/nodes/3/properties", "gfx_target_version nonsense");
	UNIT_INT(host_facts_local(&where, &host, &err), 0);
	UNIT_NEED(host.gpu_count >= 2);
	UNIT_STRING(host.gpus[0].architecture, "gfx1030");
	UNIT_STRING(host.gpus[1].architecture, "gfx90c");
	UNIT_STRING(host.kernel, "6.8.0-45-generic");
	UNIT_STRING(host.gpus[0].driver, "amdgpu");
}

/* What this test asks of glibc is what readelf -V tells: not more than the glibc that runs it. */
static void test_glibc(void)
{
	struct elf_info info CLEANUP(elf_info_free) = {0};
	struct error err = {0};
	UNIT_INT(elf_read("/proc/self/exe", &info, &err), 0);
	UNIT_NEED(info.glibc != NULL);
	CU_ASSERT_TRUE(version_is_valid(info.glibc));
	CU_ASSERT_TRUE(version_compare(info.glibc, "2.2") > 0);
	CU_ASSERT_TRUE(version_compare(info.glibc, gnu_get_libc_version()) <= 0);
}

UNIT_MAIN("facts of Linux hosts", {"NVIDIA", test_nvidia}, {"AMD", test_amd},
	  {"modules and PCI", test_modules_and_pci}, {"glibc", test_glibc})
