/* SPDX-License-Identifier: MIT */
/* Documents of probes on healthy hardware pass, or say what the environment lacks; those of something
 * wrong fail. */
#include "base/json.h"
#include "conformance/checks/api_document.h"
#include "conformance/checks/tests/recorder.h"

static const char *const apis[] = {"vulkan",	"opencl",  "opengl", "hip",
				   "levelzero", "directx", NULL};
static const char *const attributes[] = {NULL};
static const struct discovery_node nodes[] = {{"/dev/dri/card1", "/dev/dri/card1", "rw"},
					      {"/dev/null", "/dev/null", "rw"}};
#define DEVICE(name, ...)                                                                          \
	{                                                                                          \
		.id = name, .kind = DISCOVERY_DISPLAY, .vendor = "V", .apis = apis,                \
		.attributes = attributes, .allocatable = true, __VA_ARGS__                         \
	}
static const struct discovery_device devices[] = {
	DEVICE("radeon", .pci_vendor = 0x1002, .pci_device = 0x73bf, .pci_address = "0000:03:00.0",
	       .nodes = nodes, .node_count = 2),
	DEVICE("t4", .pci_vendor = 0x10de, .pci_device = 0x1eb8, .pci_address = "", .luid = 0x0102),
	DEVICE("far", .pci_vendor = 0x1002, .pci_device = 0x740f, .pci_address = "0002:83:00.0"),
	DEVICE("virtio", .pci_vendor = 0x1af4, .pci_device = 0x1050, .pci_address = "0000:00:01.0"),
	DEVICE("part", .pci_vendor = 0x1002, .pci_device = 0x74a1, .pci_address = "0000:09:00.0"),
	DEVICE("other", .pci_vendor = 0x1002, .pci_device = 0x74a1, .pci_address = "0000:09:00.0"),
	{.id = "soft",
	 .kind = DISCOVERY_SOFTWARE,
	 .pci_vendor = DISCOVERY_UNKNOWN,
	 .pci_device = DISCOVERY_UNKNOWN,
	 .pci_address = "",
	 .vendor = "Mesa",
	 .apis = apis},
};
enum { RADEON, T4, FAR, VIRTIO, PART, OTHER_PART, SOFT };

static struct discovery_snapshot node = {
	.system = {.os = "linux", .emulator = ""},
	.devices = devices,
	.device_count = ARRAY_SIZE(devices),
};

struct row {
	const char *api;
	size_t device;
	const char *given; /* "" nothing; "n" its node; "l" a library; "f" a folder */
	const char *status, *missing, *devices, *work;
	enum report_outcome outcome;
	const char *why;
};
static const struct row *row;

static void fill_grant(struct grant *grant)
{
	const struct grant_entry entries[] = {
		{.container_path = "/dev/dri/renderD128",
		 .host_path = "/dev/null",
		 .permissions = "rw"},
		{.container_path = "/usr/lib/libdriver.so.1", .host_path = "/etc/hostname"},
		{.container_path = "/usr/local/driver", .host_path = "/etc"},
	};
	static const char letters[] = "nlf";
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (strchr(row->given, letters[i]) != NULL)
			grant_add(grant, i == 0 ? GRANT_DEVICE : GRANT_MOUNT, &entries[i]);
}

static void body(struct check_run *run)
{
	char *text CLEANUP_FREE =
		text_format("{\"api\": {\"status\": \"%s\", \"reason\": %s, \"missing\": %s%s%s}, "
			    "\"devices\": [%s], \"work\": %s}",
			    row->status, strcmp(row->status, "ok") == 0 ? "null" : "\"a reason\"",
			    row->missing[0] != '\0' ? "\"" : "null", row->missing,
			    row->missing[0] != '\0' ? "\"" : "", row->devices, row->work);
	cJSON *document CLEANUP_JSON = NULL;
	struct grant grant CLEANUP_GRANT = {0};
	CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &document, NULL), 0);
	fill_grant(&grant);
	api_expect_document(run, &devices[row->device], gpu_api_find(row->api), &grant, document,
			    NULL);
}

static void expect_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *reason = "";
		row = &rows[i];
		struct result result CLEANUP_RESULT = recorder_run_on(body, "/nonexistent", &node);
		enum report_outcome outcome = result_outcome(&result, &reason);
		if (outcome != row->outcome || strstr(reason, row->why) == NULL)
			printf("row %zu (%s): %d %s\n", i, row->api, outcome, reason);
		UNIT_INT(outcome, row->outcome);
		UNIT_CONTAINS(reason, row->why);
	}
}

#define ENTRY(software, more) "{\"name\": \"x\", \"software\": " software more "}"
#define GPU(more)	      ENTRY("false", more)
#define CPU(more)	      ENTRY("true", ", \"type\": \"cpu\"" more)
#define IDS(vendor, id)	      ", \"vendorId\": \"" vendor "\", \"deviceId\": \"" id "\""
#define BUS(address)	      ", \"pciAddress\": \"" address "\""
#define LUID(luid)	      ", \"deviceLuid\": \"" luid "000000000000\""
#define BY(driver)	      ", \"driver\": {\"idName\": \"" driver "\"}"
#define PLATFORM(index)	      ", \"platform\": " index
#define UUID(digit)	      ", \"deviceUuid\": \"" digit "\""
#define DONE(device)                                                                               \
	"{\"device\": " device ", \"status\": \"ok\", \"verified\": true, \"elements\": 1048576}"
#define CANNOT(device, reason)                                                                       \
	"{\"device\": " device                                                                       \
	", \"status\": \"unsupported\", \"verified\": false, \"elements\": 0, \"reason\": \"" reason \
	"\"}"
#define LISTED "null"

#define RADEON_IDS	IDS("0x1002", "0x73bf")
#define RADEON_BUS	BUS("0000:03:00.0")
#define RADV		GPU(RADEON_IDS RADEON_BUS BY("VK_DRIVER_ID_MESA_RADV"))
#define AMDVLK		GPU(RADEON_IDS RADEON_BUS BY("VK_DRIVER_ID_AMD_OPEN_SOURCE"))
#define LAVAPIPE	CPU(IDS("0x10005", "0x0000") BY("VK_DRIVER_ID_MESA_LLVMPIPE"))
#define T4_ENTRY	GPU(IDS("0x10de", "0x1eb8") LUID("0201"))
#define BASIC(software) ENTRY(software, IDS("0x1414", "0x008c") LUID("0999"))

/* Mesa's image has the drivers of AMD, Intel and the processor together, and a GPU may have two. */
static void test_drivers_next_to_each_other(void)
{
	static const struct row rows[] = {
		{"vulkan", RADEON, "n", "ok", "", RADV ", " LAVAPIPE, DONE("0"), REPORT_PASS, ""},
		{"vulkan", RADEON, "n", "ok", "", LAVAPIPE ", " RADV, DONE("1"), REPORT_PASS, ""},
		{"vulkan", RADEON, "n", "ok", "", LAVAPIPE ", " RADV ", " AMDVLK, DONE("2"),
		 REPORT_PASS, ""},
		/* the work was done on the processor */
		{"vulkan", RADEON, "n", "ok", "", LAVAPIPE ", " RADV, DONE("0"), REPORT_FAIL,
		 "/devices/0/software"},
		{"vulkan", RADEON, "n", "ok", "", RADV, DONE("7"), REPORT_FAIL,
		 "/devices/7/software"},
		/* another GPU */
		{"vulkan", RADEON, "n", "ok", "", RADV ", " GPU(RADEON_IDS BUS("0000:04:00.0")),
		 DONE("0"), REPORT_FAIL, "/devices/count: got 2"},
		{"vulkan", RADEON, "n", "ok", "", GPU(RADEON_IDS BUS("0000:04:00.0")), DONE("0"),
		 REPORT_FAIL, "/pciAddress"},
		{"vulkan", RADEON, "n", "ok", "", RADV ", " GPU(IDS("0x8086", "0x4905") BY("x")),
		 DONE("0"), REPORT_FAIL, "/devices/count: got 2"},
		/* OpenCL: one platform that reports nothing of its devices, and one that does */
		{"opencl", RADEON, "n", "ok", "",
		 GPU(PLATFORM("0")) ", " GPU(PLATFORM("1") RADEON_BUS), DONE("1"), REPORT_PASS, ""},
		{"opencl", RADEON, "n", "ok", "",
		 GPU(PLATFORM("1") RADEON_BUS) ", " GPU(PLATFORM("0")) ", " GPU(PLATFORM("0")),
		 DONE("0"), REPORT_FAIL, "/devices/count: got 2"},
		{"opencl", RADEON, "n", "ok", "", GPU(PLATFORM("0")) ", " GPU(PLATFORM("0")),
		 DONE("0"), REPORT_FAIL, "/devices/count: got 2"},
		{"opencl", RADEON, "n", "ok", "",
		 CPU(PLATFORM("0")) ", " GPU(PLATFORM("1") RADEON_BUS), DONE("1"), REPORT_PASS, ""},
		/* parts of one device: tiles, partitions */
		{"levelzero", RADEON, "n", "ok", "",
		 GPU(RADEON_BUS UUID("1")) ", " GPU(RADEON_BUS UUID("2")), DONE("0"), REPORT_PASS,
		 ""},
		/* parts of which the node has each as a device of its own */
		{"hip", PART, "n", "ok", "", GPU(BUS("0000:09:00.0")), DONE("0"),
		 REPORT_UNSUPPORTED, "distinguishes this device"},
		{"hip", PART, "n", "ok", "", GPU(BUS("0000:09:00.0")) ", " GPU(BUS("0000:09:00.0")),
		 DONE("0"), REPORT_FAIL, "/devices/count: got 2"},
		{"vulkan", PART, "n", "ok", "",
		 GPU(BUS("0000:09:00.0") BY("a")) ", " GPU(BUS("0000:09:00.0") BY("b")), DONE("0"),
		 REPORT_UNSUPPORTED, "distinguishes this device"},
		/* software: it alone */
		{"vulkan", SOFT, "l", "ok", "", LAVAPIPE, DONE("0"), REPORT_PASS, ""},
		{"vulkan", SOFT, "l", "ok", "", LAVAPIPE ", " LAVAPIPE, DONE("0"), REPORT_FAIL,
		 "/devices/count: got 2"},
		{"vulkan", SOFT, "l", "ok", "", LAVAPIPE ", " RADV, DONE("0"), REPORT_FAIL,
		 "/devices/count: got 2"},
		{"vulkan", SOFT, "l", "ok", "", "", CANNOT("0", "none"), REPORT_FAIL,
		 "/devices/count: got 0"},
	};
	expect_rows(rows, ARRAY_SIZE(rows));
}

static void test_windows(void)
{
	static const struct row rows[] = {
		{"dxgi", T4, "", "ok", "", T4_ENTRY ", " BASIC("true"), LISTED, REPORT_PASS, ""},
		{"dxgi", T4, "", "ok", "", BASIC("true") ", " T4_ENTRY, LISTED, REPORT_PASS, ""},
		{"dxgi", T4, "", "ok", "", T4_ENTRY ", " T4_ENTRY ", " BASIC("true"), LISTED,
		 REPORT_PASS, ""},
		{"dxcore", T4, "", "ok", "", T4_ENTRY ", " BASIC("false"), LISTED, REPORT_PASS, ""},
		{"d3d11", T4, "", "ok", "", BASIC("true") ", " T4_ENTRY, DONE("1"), REPORT_PASS,
		 ""},
		{"d3d12", T4, "", "ok", "", T4_ENTRY ", " BASIC("true"), DONE("0"), REPORT_PASS,
		 ""},
		{"directml", T4, "", "ok", "", T4_ENTRY ", " BASIC("true"), DONE("0"), REPORT_PASS,
		 ""},
		/* Microsoft's driver of Vulkan shows the device once more, and the renderer */
		{"vulkan", T4, "", "ok", "",
		 T4_ENTRY ", " GPU(IDS("0x10de", "0x1eb8") LUID("0201")
					   BY("VK_DRIVER_ID_MESA_DOZEN")) ", " BASIC("true"),
		 DONE("0"), REPORT_PASS, ""},
		/* no driver in the container */
		{"dxgi", T4, "", "ok", "", BASIC("true"), LISTED, REPORT_FAIL,
		 "a software renderer stands in"},
		{"dxcore", T4, "", "ok", "", BASIC("false"), LISTED, REPORT_FAIL,
		 "a software renderer stands in"},
		{"d3d12", T4, "", "ok", "", T4_ENTRY ", " BASIC("true"), DONE("1"), REPORT_FAIL,
		 "/devices/1/software"},
		/* another GPU of the host (Windows-Containers#333) */
		{"dxgi", T4, "", "ok", "",
		 T4_ENTRY ", " GPU(IDS("0x10de", "0x1eb8") LUID("0301")) ", " BASIC("true"), LISTED,
		 REPORT_FAIL, "/devices/count: got 2"},
		{"dxgi", T4, "", "ok", "",
		 GPU(IDS("0x10de", "0x1eb8") LUID("0301")) ", " BASIC("true"), LISTED, REPORT_FAIL,
		 "/deviceLuid"},
		/* what containers of Windows have not */
		{"opengl", T4, "", "unsupported", "OpenGL driver", "", LISTED, REPORT_UNSUPPORTED,
		 "OpenGL"},
		{"opengl", T4, "", "unsupported", "window station", "", LISTED, REPORT_UNSUPPORTED,
		 "window station"},
		{"directml", T4, "", "unsupported", "DirectML.dll", "", LISTED, REPORT_UNSUPPORTED,
		 "DirectML.dll"},
		/* the host brings the driver there */
		{"hip", T4, "", "unsupported", "amdhip64_7.dll", "", LISTED, REPORT_FAIL,
		 "/api/status"},
		{"hip", T4, "", "ok", "", T4_ENTRY, CANNOT("0", "no compiler (hiprtc)"),
		 REPORT_UNSUPPORTED, "hiprtc"},
	};
	node.system.os = "windows";
	expect_rows(rows, ARRAY_SIZE(rows));
	node.system.os = "linux";
}

/* The answer hands out device nodes; the image has no driver, one, or one on the processor only. */
static void test_nodes_only(void)
{
	static const struct row rows[] = {
		{"hip", RADEON, "n", "unsupported", "libamdhip64.so.7", "", LISTED,
		 REPORT_UNSUPPORTED, "--image"},
		{"vulkan", RADEON, "n", "unsupported", "Vulkan driver", "", LISTED,
		 REPORT_UNSUPPORTED, "--image"},
		{"cuda", T4, "n", "unsupported", "libcuda.so.1", "", LISTED, REPORT_UNSUPPORTED,
		 "--image"},
		{"cuda", T4, "nf", "unsupported", "libcuda.so.1", "", LISTED, REPORT_UNSUPPORTED,
		 "--image"},
		{"vulkan", RADEON, "n", "ok", "", LAVAPIPE, DONE("0"), REPORT_UNSUPPORTED,
		 "--image"},
		/* one that brings a driver forgot a part of it */
		{"cuda", T4, "nl", "unsupported", "libcuda.so.1", "", LISTED, REPORT_FAIL,
		 "/api/status"},
		{"vulkan", RADEON, "nl", "ok", "", LAVAPIPE, DONE("0"), REPORT_FAIL, "stands in"},
		/* without the node no driver works */
		{"vulkan", RADEON, "", "ok", "", LAVAPIPE, DONE("0"), REPORT_FAIL, "stands in"},
		{"vulkan", RADEON, "n", "failed", "", "", LISTED, REPORT_FAIL, "/api/status"},
		{"hip", RADEON, "n", "ok", "", "", LISTED, REPORT_FAIL, "/devices/count"},
		{"vulkan", SOFT, "n", "unsupported", "Vulkan driver", "", LISTED, REPORT_FAIL,
		 "/api/status"},
	};
	expect_rows(rows, ARRAY_SIZE(rows));
}

/* What a driver does not report is compared with nothing. */
static void test_unknown(void)
{
	static const struct row rows[] = {
		{"opencl", FAR, "n", "ok", "", GPU(IDS("0x1002", "0x740f") BUS("83:00.0")),
		 DONE("0"), REPORT_PASS, ""},
		{"opencl", FAR, "n", "ok", "", GPU(BUS("83:00.0")), DONE("0"), REPORT_PASS, ""},
		{"opencl", FAR, "n", "ok", "", GPU(BUS("84:00.0")), DONE("0"), REPORT_FAIL,
		 "/pciAddress"},
		{"opencl", FAR, "n", "ok", "", GPU(BUS("0000:83:00.0")), DONE("0"), REPORT_FAIL,
		 "/pciAddress"},
		{"vulkan", FAR, "n", "ok", "", GPU(IDS("0x10005", "0x0000")), DONE("0"),
		 REPORT_UNSUPPORTED, "distinguishes this device"},
		/* a partition (MIG): the address of the whole, and a UUID of its own */
		{"cuda", FAR, "n", "ok", "", GPU(BUS("0002:83:00.0") UUID("33")), DONE("0"),
		 REPORT_PASS, ""},
		/* a virtual GPU is shown as what is behind it */
		{"vulkan", VIRTIO, "n", "ok", "", GPU(IDS("0x8086", "0x4905") BUS("0000:00:01.0")),
		 DONE("0"), REPORT_PASS, ""},
		{"opencl", RADEON, "n", "ok", "", GPU(RADEON_BUS), CANNOT("0", "a limit"),
		 REPORT_UNSUPPORTED, "a limit"},
	};
	expect_rows(rows, ARRAY_SIZE(rows));
}

UNIT_MAIN("documents of APIs", {"drivers next to each other", test_drivers_next_to_each_other},
	  {"Windows", test_windows}, {"device nodes only", test_nodes_only},
	  {"unknown facts", test_unknown})
