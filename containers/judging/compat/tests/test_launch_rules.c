/* SPDX-License-Identifier: MIT */
/* Rules of one launch: what of it they judge, and what they read off the files that a container is given. */
#include "base/file.h"
#include "base/path.h"
#include "containers/judging/compat/launch.h"
#include "containers/judging/compat/tests/rules_rig.h"

#include <unistd.h>

#define LIBRARIES "/usr/lib/x86_64-linux-gnu/"

static char *folder;

static struct grant_entry mount(const char *from, const char *to)
{
	return (struct grant_entry){.host_path = from, .container_path = to, .read_only = true};
}

/* -1: the rule finds nothing. */
static void expect_launch_at(const struct image_contents *contents, const struct host_facts *on,
			     const struct compat_launch *launch, const char *rule, int verdict,
			     const char *says, unsigned line, const char *file)
{
	struct compat_answer answer CLEANUP_COMPAT_ANSWER = {0};
	struct image image = IMAGE(LINUX_AMD64, {"CUDA_VERSION", "12.4.0"});
	compat_check_launch(&image, contents, on, launch, &answer);
	const struct compat_finding *finding = finding_of(&answer, rule);
	unit_int(finding != NULL ? (int)finding->verdict : -1, verdict, line, file);
	if (finding != NULL)
		unit_contains(finding->reason, says, line, file);
}
#define EXPECT_LAUNCH(contents, on, launch, rule, verdict, says)                                   \
	expect_launch_at(contents, on, launch, rule, verdict, says, __LINE__, __FILE__)

/* An image whose own user-land does not fit runs another program all the same. */
static void test_scope(void)
{
	const struct host_facts facts = host("linux", "", NULL, 0);
	struct compat_launch launch = {.program = "/libexec/gpucert/probe-vulkan", .api = "vulkan"};
	struct host_facts arm = facts;
	arm.architecture = "arm64";
	EXPECT_LAUNCH(NULL, &facts, &launch, "gpu.vendor", NOTHING, "");
	EXPECT_LAUNCH(NULL, &facts, &launch, "cuda.minimum-driver", NOTHING, "");
	EXPECT_LAUNCH(NULL, &facts, &launch, "platform.architecture", COMPAT_WORKS, "");
	EXPECT_LAUNCH(NULL, &arm, &launch, "platform.architecture", COMPAT_CANNOT_WORK, "");
}

/* Programs that the launch does not start may lack what they want, and a mount gives what is missing. */
static void test_missing(void)
{
	static const char rule[] = "linux.missing-libraries";
	const struct host_facts facts = host("linux", "", NULL, 0);
	struct contents_need needs[] = {
		{"/libexec/gpucert/probe-vulkan", "libfoo.so.1", "missing"}};
	const struct image_contents contents = {
		.glibc = "2.36", .glibc_needed = "", .needs = needs, .need_count = 1};
	struct grant_entry given = mount("/usr/lib/libfoo.so.1", "/opt/libfoo.so.1");
	const struct grant grant = {.mounts = {&given, 1}};
	struct compat_launch launch = {.program = "/libexec/gpucert/probe-vulkan"};
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, COMPAT_CANNOT_WORK, "libfoo.so.1");
	launch.grant = &grant;
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, COMPAT_WORKS, "");
	launch = (struct compat_launch){.program = "/libexec/gpucert/probe-opencl"};
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, COMPAT_WORKS, "does not start");
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, NOTHING, "");
}

static void test_driver_library(void)
{
	static const char rule[] = "linux.driver-library";
	const struct host_facts facts = host("linux", "", NULL, 0);
	struct contents_library library = {CONTENTS_DRIVER_LIBRARY, LIBRARIES "libvulkan.so.1",
					   "vulkan", "", 0};
	const struct image_contents has = {
		.glibc = "2.36", .glibc_needed = "", .libraries = &library, .library_count = 1};
	const struct image_contents lacks = {.glibc = "2.36", .glibc_needed = ""};
	struct grant_entry file = mount("/etc/hostname", LIBRARIES "libcuda.so.1");
	struct grant_entry directory = mount("/usr/lib", "/usr/lib");
	struct grant grant = {.mounts = {&file, 1}};
	struct compat_launch launch = {.program = "/p", .api = "vulkan"};
	EXPECT_LAUNCH(&has, &facts, &launch, rule, COMPAT_WORKS, "libvulkan.so.1");
	EXPECT_LAUNCH(&lacks, &facts, &launch, rule, COMPAT_CANNOT_WORK, "neither in the image");
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, NOTHING, "");
	launch.grant = &grant;
	launch.api = "cuda";
	EXPECT_LAUNCH(&lacks, &facts, &launch, rule, COMPAT_WORKS, "libcuda.so.1");
	grant.mounts.items = &directory;
	EXPECT_LAUNCH(&lacks, &facts, &launch, rule, COMPAT_UNKNOWN, "");
	grant.mounts.count = 0;
	launch.needs_runtime = true;
	EXPECT_LAUNCH(&lacks, &facts, &launch, rule, COMPAT_UNKNOWN, "");
	launch.api = "d3d12"; /* of which the table says nothing */
	EXPECT_LAUNCH(&lacks, &facts, &launch, rule, NOTHING, "");
}

/* Plugins of AMD and Intel hand out device nodes, and links to them. */
static void test_image_driver(void)
{
	const struct host_facts facts = host("linux", "", NULL, 0);
	struct contents_library library = {CONTENTS_DRIVER_LIBRARY, LIBRARIES "libamdhip64.so.6",
					   "hip", "", 0};
	const struct image_contents has = {
		.glibc = "2.36", .glibc_needed = "", .libraries = &library, .library_count = 1};
	const struct image_contents lacks = {.glibc = "2.36", .glibc_needed = ""};
	struct grant_entry node = {
		.host_path = "/dev/kfd", .container_path = "/dev/kfd", .permissions = "rw"};
	struct grant_entry link = mount("/dev/dri/by-path/x", "/dev/dri/by-path/x.so");
	struct grant_entry part = mount("/opt/libhsa.so.1", "/opt/libhsa.so.1");
	struct grant grant = {.devices = {&node, 1}, .mounts = {&link, 1}};
	const struct compat_launch launch = {.program = "/p", .api = "hip", .grant = &grant};
	EXPECT_LAUNCH(&lacks, &facts, &launch, "linux.image-driver", COMPAT_CANNOT_WORK, "--image");
	EXPECT_LAUNCH(&lacks, &facts, &launch, "linux.driver-library", NOTHING, "");
	EXPECT_LAUNCH(&has, &facts, &launch, "linux.image-driver", NOTHING, "");
	EXPECT_LAUNCH(&has, &facts, &launch, "linux.driver-library", COMPAT_WORKS, "libamdhip64");
	grant.mounts.items = &part; /* one that brings a driver forgot a part of it */
	EXPECT_LAUNCH(&lacks, &facts, &launch, "linux.image-driver", NOTHING, "");
	EXPECT_LAUNCH(&lacks, &facts, &launch, "linux.driver-library", COMPAT_CANNOT_WORK,
		      "neither in the image");
}

static void test_device_node(void)
{
	static const char rule[] = "linux.device-node";
	struct host_gpu device = gpu("nvidia", "Tesla T4", "550.54.15");
	struct host_facts facts = host("linux", "", &device, 1);
	struct grant_entry node = {.host_path = "/dev/nvidiactl",
				   .container_path = "/dev/nvidiactl",
				   .permissions = "rw"};
	struct grant grant = {.devices = {&node, 1}};
	struct compat_launch launch = {.program = "/p", .api = "cuda", .grant = &grant};
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, COMPAT_WORKS, "given with 'rw'");
	node.permissions = "r";
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, COMPAT_CANNOT_WORK, "given with 'r'");
	node.container_path = "/dev/nvidia0";
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, COMPAT_CANNOT_WORK, "/dev/nvidiactl is opened");
	launch.needs_runtime = true; /* NVIDIA's hook gives nodes itself */
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, COMPAT_UNKNOWN, "");
	launch.needs_runtime = false;
	launch.api = "vulkan"; /* whose driver may be another one */
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, NOTHING, "");
	launch.api = "cuda";
	facts.gpu_count = 0; /* the driver is none that opens nodes: a double */
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, NOTHING, "");
	launch.api = NULL;
	launch.node = "/dev/x";
	EXPECT_LAUNCH(NULL, &facts, &launch, rule, COMPAT_CANNOT_WORK, "/dev/x is opened");
}

static const char *in_folder(struct arena *arena, const char *name, const char *content)
{
	const char *path = arena_format(arena, "%s/%s", folder, name);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, content, strlen(content), 0644, NULL), 0);
	return path;
}

/* Drivers that are libraries of this machine: libm needs libc. What decides is the driver that asks for the
 * least, for one is enough. */
static void test_driver_glibc(void)
{
	static const char rule[] = "linux.driver-glibc";
	const struct host_facts facts = host("linux", "", NULL, 0);
	struct arena arena __attribute__((cleanup(arena_free))) = {0};
	struct image_contents contents = {.glibc = "2.1", .glibc_needed = ""};
	struct contents_library own = {CONTENTS_ICD_MANIFEST, "/etc/vulkan/icd.d/own.json",
				       "vulkan", "", 0};
	struct grant_entry mounts[] = {
		mount("/proc/self/exe", "/opt/libdriver.so"),
		mount(in_folder(&arena, "a.json",
				"{\"ICD\": {\"library_path\": \"libdriver.so\"}}"),
		      "/opt/a.json"),
		mount(in_folder(&arena, "b.json", "{\"ICD\": {\"library_path\": \"libother.so\"}}"),
		      "/opt/b.json"),
	};
	struct grant grant = {.mounts = {mounts, 2}};
	struct compat_launch launch = {.program = "/p", .api = "vulkan", .grant = &grant};
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, COMPAT_CANNOT_WORK, "is 2.1");
	contents.glibc = "99.0";
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, COMPAT_WORKS, "");
	contents.glibc = "2.1";
	grant.mounts.count = 3; /* another driver, which is in the image or nowhere */
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, NOTHING, "");
	grant.mounts.count = 2;
	contents.libraries = &own;
	contents.library_count = 1;
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, NOTHING, "");
	contents.library_count = 0;
	launch.needs_runtime = true;
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, NOTHING, "");
	launch.needs_runtime = false;
	launch.api = "opengl"; /* the manifest is Vulkan's */
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, NOTHING, "");
	mounts[1].container_path = "/usr/share/glvnd/egl_vendor.d/a.json";
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, COMPAT_CANNOT_WORK, "");
	launch.api = "vulkan";
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, NOTHING, "");
	mounts[1] = mount("/proc/self/exe", "/opt/a.json"); /* not a manifest */
	EXPECT_LAUNCH(&contents, &facts, &launch, rule, NOTHING, "");
}

static void test_symptoms(void)
{
	CU_ASSERT_TRUE(
		compat_rule_shows("platform.architecture", false, "exec /x: exec format error"));
	CU_ASSERT_FALSE(
		compat_rule_shows("platform.architecture", true, "exec /x: exec format error"));
	CU_ASSERT_TRUE(compat_rule_shows("linux.driver-glibc", true,
					 "libc.so.6: version `GLIBC_2.38' not found"));
	CU_ASSERT_FALSE(compat_rule_shows("linux.driver-glibc", true, "no device"));
	CU_ASSERT_FALSE(compat_rule_shows("platform.os", false, "exec format error"));
	CU_ASSERT_FALSE(compat_rule_shows("cuda.minimum-driver", false, "exec format error"));
}

static int open_folder(void)
{
	return file_make_temporary("/tmp", "gpucert-test-", &folder, NULL);
}

static int remove_folder(void)
{
	int rc = file_remove_tree(folder, NULL);
	free(folder);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {{"scope", test_scope},
			       {"missing libraries", test_missing},
			       {"library of an API", test_driver_library},
			       {"driver that the image brings", test_image_driver},
			       {"device nodes", test_device_node},
			       {"glibc of drivers", test_driver_glibc},
			       {"symptoms", test_symptoms},
			       CU_TEST_INFO_NULL};
	return unit_run_in("rules of a launch", open_folder, remove_folder, tests);
}
