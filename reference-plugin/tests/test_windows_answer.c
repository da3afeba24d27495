/* SPDX-License-Identifier: MIT */
/* What a container of a Windows node is given. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/windows_path.h"
#include "discovery/filter.h"
#include "reference-plugin/answer/answer.h"
#include "reference-plugin/tests/sample_node.h"

#define STORE	 "C:\\Windows\\System32\\DriverStore\\FileRepository\\nv.inf_amd64_1"
#define SYSTEM32 "C:\\Windows\\System32\\"
#define SYSWOW64 "C:\\Windows\\SysWOW64\\"

static const struct answer_request recorded = {.windows = true, .recorded = true};

static const struct discovery_file t4_files[] = {
	{STORE "\\nvcuda_loader64.dll", SYSTEM32 "nvcuda.dll", 64, false, "CopyToVmWhenNewer"},
	{STORE "\\nvcuda_loader32.dll", SYSWOW64 "nvcuda.dll", 32, false, "CopyToVmWhenNewerWow64"},
};

static struct discovery_device t4(const char *id, const char *location_path)
{
	struct discovery_device device = sample_device(id);
	device.vendor = "NVIDIA";
	device.pci_vendor = 0x10de;
	device.description = "NVIDIA Tesla T4";
	device.pnp_instance_id = "PCI\\VEN_10DE&DEV_1EB8\\3&13C0B0C5&1&D8";
	device.driver_version = "31.0.15.3713";
	device.location_path = location_path;
	device.driver_store_path = STORE;
	device.files = t4_files;
	device.file_count = ARRAY_SIZE(t4_files);
	return device;
}

/* A device of another vendor, with one file and nothing built in. */
static struct discovery_device other(const char *id, const struct discovery_file *file)
{
	struct discovery_device device = sample_device(id);
	device.vendor = "AMD";
	device.pci_vendor = 0x1002;
	device.location_path = "PCIROOT(0)#PCI(0300)";
	device.driver_store_path = "C:\\Store\\amd";
	device.files = file;
	device.file_count = file != NULL ? 1 : 0;
	return device;
}

/* One line a thing that the container is given. */
static void describe(const struct answer *answer, struct text *out)
{
	const V1beta1__ContainerAllocateResponse *message = &answer->message;
	for (size_t i = 0; i < message->n_devices; i++) {
		text_addf(out, "device %s\n", message->devices[i]->host_path);
		UNIT_STRING(message->devices[i]->container_path, "");
		UNIT_STRING(message->devices[i]->permissions, "");
	}
	for (size_t i = 0; i < message->n_mounts; i++) {
		text_addf(out, "%s <= %s\n", message->mounts[i]->container_path,
			  message->mounts[i]->host_path);
		CU_ASSERT_TRUE(message->mounts[i]->read_only);
	}
	for (size_t i = 0; i < message->n_envs; i++)
		text_addf(out, "%s=%s\n", message->envs[i]->key, message->envs[i]->value);
	for (size_t i = 0; i < answer->warnings.count; i++)
		text_addf(out, "warning: %s\n", answer->warnings.items[i]);
}

static void expect_on(const struct answer_request *node, const struct answer_rules *rules,
		      const struct discovery_device *first, const struct discovery_device *second,
		      const char *wanted)
{
	const struct discovery_device *const devices[] = {first, second};
	struct answer answer CLEANUP(answer_free) = {0};
	struct text seen CLEANUP_TEXT = {0};
	struct error err = {0};
	struct answer_request request = *node;
	request.rules = rules;
	request.devices = devices;
	request.count = second != NULL ? 2 : 1;
	int rc = answer_build(&request, &answer, &err);
	UNIT_STRING(err.text, "");
	UNIT_INT(rc, 0);
	if (rc == 0)
		describe(&answer, &seen);
	UNIT_STRING(text_string(&seen), wanted);
}

static void expect(const struct answer_rules *rules, const struct discovery_device *first,
		   const struct discovery_device *second, const char *wanted)
{
	expect_on(&recorded, rules, first, second, wanted);
}

static void expect_error(const struct answer_rules *rules, const struct discovery_device *first,
			 const struct discovery_device *second, const char *wanted)
{
	const struct discovery_device *const devices[] = {first, second};
	struct answer answer CLEANUP(answer_free) = {0};
	struct answer_request request = recorded;
	struct error err = {0};
	request.rules = rules;
	request.devices = devices;
	request.count = second != NULL ? 2 : 1;
	UNIT_INT(answer_build(&request, &answer, &err), ERROR_UNSUPPORTED);
	UNIT_STRING(err.text, wanted);
}

static const struct answer_rules plain;

static void test_location_path(void)
{
	struct discovery_device device = t4("t4", "PCIROOT(0)#PCI(1B00)");
	expect(&plain, &device, NULL,
	       "device vpci-location-path://PCIROOT(0)#PCI(1B00)\n" SYSTEM32 "nvcuda.dll <= " STORE
	       "\\nvcuda_loader64.dll\n" SYSTEM32 "nvidia-smi.exe <= " STORE
	       "\\nvidia-smi.exe\n" SYSTEM32 "vulkaninfo.exe <= " STORE
	       "\\vulkaninfo-x64.exe\n" SYSWOW64 "nvcuda.dll <= " STORE
	       "\\nvcuda_loader32.dll\n" SYSWOW64 "vulkaninfo.exe <= " STORE
	       "\\vulkaninfo-x86.exe\n");
	/* Byte for byte, whatever it holds. */
	device.file_count = 0;
	device.pci_vendor = DISCOVERY_UNKNOWN;
	device.vendor = "";
	device.location_path = "PCIROOT(0)#PCI(0100)#pci(0000) \xc3\xa4";
	expect(&plain, &device, NULL,
	       "device vpci-location-path://PCIROOT(0)#PCI(0100)#pci(0000) \xc3\xa4\n");
	device.location_path = "";
	expect_error(&plain, &device, NULL, "device 't4' has no location path to assign it by");
}

static void test_skip_runtime_mounts(void)
{
	struct discovery_device device = t4("t4", "PCIROOT(0)#PCI(1B00)");
	const struct answer_rules rules = {.skip_runtime_mounts = true};
	expect(&rules, &device, NULL, "device vpci-location-path://PCIROOT(0)#PCI(1B00)\n");
}

static void test_class(void)
{
	struct discovery_device device = t4("a", "");
	struct discovery_device second = t4("b", "");
	const struct answer_rules rules = {.allocation = ANSWER_CLASS, .skip_runtime_mounts = true};
	const struct answer_rules several = {
		.allocation = ANSWER_CLASS, .skip_runtime_mounts = true, .allow_several = true};
	expect(&rules, &device, NULL,
	       "device class/5B45201D-F2F2-4F3B-85BB-30FF1F953599\n"
	       "DIRECTX_GPU_DriverVersion=31.0.15.3713\n"
	       "DIRECTX_GPU_Name=NVIDIA Tesla T4\n"
	       "DIRECTX_GPU_PNPDeviceID=PCI\\VEN_10DE&DEV_1EB8\\3&13C0B0C5&1&D8\n");
	second.description = "Other";
	expect(&several, &device, &second,
	       "device class/5B45201D-F2F2-4F3B-85BB-30FF1F953599\n"
	       "DIRECTX_GPU_DriverVersion=31.0.15.3713\n"
	       "DIRECTX_GPU_Name=NVIDIA Tesla T4\n"
	       "DIRECTX_GPU_PNPDeviceID=PCI\\VEN_10DE&DEV_1EB8\\3&13C0B0C5&1&D8\n"
	       "warning: the variables DIRECTX_GPU_* name only 'a' of 2 devices\n");
}

static void test_several_devices(void)
{
	struct discovery_device a = t4("a", "PCIROOT(0)#PCI(1B00)");
	struct discovery_device b = t4("b", "PCIROOT(0)#PCI(1C00)");
	const struct answer_rules rules = {.allow_several = true};
	expect_error(&plain, &a, &b,
		     "one container cannot have 2 devices ('a', 'b'): a kubelet up to 1.36 passes "
		     "only the first device on to a container of Windows; ask for ids of one "
		     "device, or allow it by severalDevices: allow");
	/* Twins bring the same files: nobody loses anything. */
	a.pci_vendor = b.pci_vendor = DISCOVERY_UNKNOWN;
	a.file_count = b.file_count = 1;
	expect(&rules, &a, &b,
	       "device vpci-location-path://PCIROOT(0)#PCI(1B00)\n"
	       "device vpci-location-path://PCIROOT(0)#PCI(1C00)\n" SYSTEM32 "nvcuda.dll <= " STORE
	       "\\nvcuda_loader64.dll\n");
}

static void test_vendors_that_bring_the_same_file(void)
{
	static const struct discovery_file amd = {"C:\\Store\\amd\\amdocl64.dll",
						  SYSTEM32 "opencl.DLL", 64, false, ""};
	static const struct discovery_file nvidia = {STORE "\\OpenCL64.dll", SYSTEM32 "OpenCL.dll",
						     64, false, ""};
	struct discovery_device a = other("a", &amd);
	struct discovery_device b = t4("b", "PCIROOT(0)#PCI(1B00)");
	const struct answer_rules rules = {.allow_several = true};
	b.pci_vendor = DISCOVERY_UNKNOWN;
	b.files = &nvidia;
	b.file_count = 1;
	expect(&rules, &a, &b,
	       "device vpci-location-path://PCIROOT(0)#PCI(0300)\n"
	       "device vpci-location-path://PCIROOT(0)#PCI(1B00)\n" SYSTEM32
	       "opencl.DLL <= C:\\Store\\amd\\amdocl64.dll\n"
	       "warning: device 'b': '" STORE "\\OpenCL64.dll' is not mounted at '" SYSTEM32
	       "OpenCL.dll': device 'a' has 'C:\\Store\\amd\\amdocl64.dll' there\n");
}

/* Registry before configuration before built-in. */
static void test_precedence(void)
{
	struct additional_mounts mounts CLEANUP(additional_mounts_free) = {0};
	const struct answer_rules rules = {.additional = &mounts};
	struct discovery_device device = t4("t4", "X");
	UNIT_INT(additional_mounts_add(&mounts, ADDITIONAL_MOUNT_SYSTEM32, "nvidia",
				       "my/NVCUDA.dll", NULL, NULL),
		 0);
	UNIT_INT(additional_mounts_add(&mounts, ADDITIONAL_MOUNT_SYSTEM32, "0x10DE", "smi2.exe",
				       "NVIDIA-SMI.exe", NULL),
		 0);
	UNIT_INT(additional_mounts_add(&mounts, ADDITIONAL_MOUNT_SYSWOW64, "10de", "x\\y.dll", NULL,
				       NULL),
		 0);
	UNIT_INT(additional_mounts_add(&mounts, ADDITIONAL_MOUNT_SYSTEM32, "AMD", "amd.dll", NULL,
				       NULL),
		 0);
	expect(&rules, &device, NULL,
	       "device vpci-location-path://X\n" SYSTEM32 "nvcuda.dll <= " STORE
	       "\\nvcuda_loader64.dll\n" SYSTEM32 "NVIDIA-SMI.exe <= " STORE "\\smi2.exe\n" SYSTEM32
	       "vulkaninfo.exe <= " STORE "\\vulkaninfo-x64.exe\n" SYSWOW64 "nvcuda.dll <= " STORE
	       "\\nvcuda_loader32.dll\n" SYSWOW64 "vulkaninfo.exe <= " STORE
	       "\\vulkaninfo-x86.exe\n" SYSWOW64 "y.dll <= " STORE "\\x\\y.dll\n"
	       "warning: device 't4': '" STORE "\\my\\NVCUDA.dll' is not mounted at '" SYSTEM32
	       "NVCUDA.dll': device 't4' has '" STORE "\\nvcuda_loader64.dll' there\n");
}

static void expect_objection(const char *source, const char *destination, unsigned bits,
			     const char *why)
{
	const struct discovery_file file = {source, destination, bits, false, ""};
	struct discovery_device device = other("x", &file);
	char *wanted CLEANUP_FREE = text_format("device vpci-location-path://PCIROOT(0)#PCI(0300)\n"
						"warning: device 'x': '%s' is not mounted at '%s': "
						"%s\n",
						source, destination, why);
	expect(&plain, &device, NULL, wanted);
}

static void test_hostile_files(void)
{
	static const char outside[] = "its source is not in the driver's directory";
	static const char relative[] = "its source is not an absolute path without '..'";
	static const char elsewhere[] = "its destination is not a file in System32 or SysWOW64";
	static const char good[] = "C:\\Store\\amd\\a.dll";
	expect_objection("C:\\Windows\\System32\\config\\SAM", SYSTEM32 "a.dll", 64, outside);
	expect_objection("C:\\Store\\amdx\\a.dll", SYSTEM32 "a.dll", 64, outside);
	expect_objection("C:\\Store\\amd\\..\\b\\a.dll", SYSTEM32 "a.dll", 64, relative);
	expect_objection("C:\\Store\\amd\\a.dll:s", SYSTEM32 "a.dll", 64, relative);
	expect_objection("\\\\?\\C:\\Store\\amd\\a.dll", SYSTEM32 "a.dll", 64, relative);
	expect_objection("\\\\host\\share\\a.dll", SYSTEM32 "a.dll", 64, relative);
	expect_objection("amd\\a.dll", SYSTEM32 "a.dll", 64, relative);
	expect_objection(good, SYSTEM32 "drivers\\a.dll", 64, elsewhere);
	expect_objection(good, SYSTEM32 "..\\a.dll", 64, elsewhere);
	expect_objection(good, SYSTEM32 "a.dll ", 64, elsewhere);
	expect_objection(good, SYSTEM32 "nul.dll", 64, elsewhere);
	expect_objection(good, SYSTEM32, 64, elsewhere);
	expect_objection(good, "C:\\Windows\\a.dll", 64, elsewhere);
	expect_objection(good, "D:\\Windows\\System32\\a.dll", 64, elsewhere);
	expect_objection(good, SYSTEM32 "a.dll", 32, "32-bit files do not belong into System32");
	expect_objection(good, SYSWOW64 "a.dll", 64, "64-bit files do not belong into SysWOW64");
}

/* Configured and built-in files are named relative to the driver's directory. */
static void test_hostile_driver_directory(void)
{
	struct additional_mounts mounts CLEANUP(additional_mounts_free) = {0};
	const struct answer_rules rules = {.additional = &mounts};
	struct discovery_device device = t4("t4", "X");
	UNIT_INT(additional_mounts_add(&mounts, ADDITIONAL_MOUNT_SYSTEM32, "nvidia", "a.dll", NULL,
				       NULL),
		 0);
	device.file_count = 0;
	device.driver_store_path = "C:\\Store\\..\\Windows";
	expect(&rules, &device, NULL,
	       "device vpci-location-path://X\n"
	       "warning: device 't4': 'a.dll' is not mounted: where its driver lies is not "
	       "known\n");
}

/* Names in any script, and paths beyond 260 characters, go through as they are. */
static void test_long_and_foreign_names(void)
{
	static const char name[] = "\xe3\x82\xb0\xe3\x83\xa9\xf0\x9f\x98\x80.dll";
	char *source CLEANUP_FREE = text_format("C:\\Store\\amd\\%0120d\\%0120d\\%s", 0, 0, name);
	char *destination CLEANUP_FREE = text_format(SYSTEM32 "%s", name);
	char *wanted CLEANUP_FREE =
		text_format("device vpci-location-path://PCIROOT(0)#PCI(0300)\n%s <= %s\n",
			    destination, source);
	const struct discovery_file file = {source, destination, 64, false, ""};
	struct discovery_device device = other("x", &file);
	expect(&plain, &device, NULL, wanted);
}

static void test_missing_files_are_left_out(void)
{
	static const struct answer_request live = {.windows = true};
	struct discovery_device device = t4("t4", "X");
	device.file_count = 1;
	expect_on(&live, &plain, &device, NULL,
		  "device vpci-location-path://X\n"
		  "warning: device 't4': '" STORE
		  "\\nvcuda_loader64.dll' is not mounted at '" SYSTEM32
		  "nvcuda.dll': it does not exist\n");
}

static void expect_refused_mount(enum additional_mount_kind kind, const char *source,
				 const char *destination, const char *part)
{
	struct additional_mounts mounts CLEANUP(additional_mounts_free) = {0};
	struct error err = {0};
	UNIT_INT(additional_mounts_add(&mounts, kind, "nvidia", source, destination, &err),
		 ERROR_FORMAT);
	UNIT_CONTAINS(err.text, part);
	UNIT_INT(mounts.count, 0);
}

static void test_additional_mounts_stay_in_place(void)
{
	static const char *const sources[] = {
		"",	   "..\\x.dll",	 "a\\..\\x.dll", "C:\\x.dll", "\\x.dll", "a\\\\b",
		"a.dll:s", "a\\b.dll. ", "CON",		 "a\\com1.x", "a\tb",	 "x*",
	};
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		expect_refused_mount(ADDITIONAL_MOUNT_SYSTEM32, sources[i], "a.dll",
				     "is not a path below the driver's directory");
	expect_refused_mount(ADDITIONAL_MOUNT_SYSTEM32, "a.dll", "x\\a.dll",
			     "destination 'x\\a.dll' is not a file name: the file goes into "
			     "C:\\Windows\\System32");
	expect_refused_mount(ADDITIONAL_MOUNT_SYSWOW64, "a.dll", "",
			     "destination '' is not a file name: the file goes into "
			     "C:\\Windows\\SysWOW64");
}

static void test_vendors(void)
{
	struct discovery_device device = sample_device("x");
	CU_ASSERT_FALSE(filter_vendor_matches("", &device));
	device.vendor = "AMD";
	device.manufacturer = "Advanced Micro Devices, Inc.";
	CU_ASSERT_TRUE(filter_vendor_matches("amd", &device));
	CU_ASSERT_TRUE(filter_vendor_matches("advanced micro devices, inc.", &device));
	CU_ASSERT_FALSE(filter_vendor_matches("advanced micro devices, inc", &device));
	CU_ASSERT_FALSE(filter_vendor_matches("0x1002", &device));
	CU_ASSERT_FALSE(filter_vendor_matches("", &device));
	device.pci_vendor = 0x1002;
	CU_ASSERT_TRUE(filter_vendor_matches("0x1002", &device));
	CU_ASSERT_TRUE(filter_vendor_matches("1002", &device));
	CU_ASSERT_FALSE(filter_vendor_matches("0x10020", &device));
}

UNIT_MAIN("Windows answers", {"location path", test_location_path},
	  {"skip runtime mounts", test_skip_runtime_mounts}, {"class", test_class},
	  {"several devices", test_several_devices},
	  {"vendors that bring the same file", test_vendors_that_bring_the_same_file},
	  {"precedence", test_precedence}, {"hostile files", test_hostile_files},
	  {"hostile driver directory", test_hostile_driver_directory},
	  {"long and foreign names", test_long_and_foreign_names},
	  {"missing files are left out", test_missing_files_are_left_out},
	  {"additional mounts stay in place", test_additional_mounts_stay_in_place},
	  {"vendors", test_vendors})
