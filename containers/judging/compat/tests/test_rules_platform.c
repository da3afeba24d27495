/* SPDX-License-Identifier: MIT */
/* What an image needs of any host, AMD's and Intel's rules, and the table of rules itself. */
#include "base/text.h"
#include "containers/judging/compat/tests/rules_rig.h"

static void test_rule_table(void)
{
	size_t count = 0;
	const struct compat_rule *rules = compat_rules(&count);
	CU_ASSERT_TRUE(count > 20);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_TRUE(strchr(rules[i].id, '.') != NULL && rules[i].source[0] != '\0');
		CU_ASSERT_TRUE(text_ends_with(rules[i].says, "."));
		for (size_t k = 0; k < i; k++)
			CU_ASSERT_TRUE(strcmp(rules[i].id, rules[k].id) != 0);
	}
}

static void test_os_and_architecture(void)
{
	struct host_facts facts = host("linux", "", NULL, 0);
	struct image image = IMAGE(LINUX_AMD64, NO_VARIABLE);
	EXPECT(&image, NULL, &facts, NULL, "platform.os", COMPAT_WORKS, "linux");
	EXPECT(&image, NULL, &facts, NULL, "platform.architecture", COMPAT_WORKS, "amd64");
	image.platform.architecture = "arm64";
	EXPECT(&image, NULL, &facts, NULL, "platform.architecture", COMPAT_CANNOT_WORK,
	       "image: arm64; host: amd64");
	image.platform.architecture = "";
	EXPECT(&image, NULL, &facts, NULL, "platform.architecture", COMPAT_UNKNOWN,
	       "image: not known; host: amd64");
	image.platform.os = "windows";
	EXPECT(&image, NULL, &facts, NULL, "platform.os", COMPAT_CANNOT_WORK, "windows");
	image.platform.os = "";
	EXPECT(&image, NULL, &facts, NULL, "platform.os", COMPAT_UNKNOWN, "image: not known");
}

static void expect_level(const char *variant, unsigned asked, unsigned has, int verdict,
			 const char *says)
{
	struct host_facts facts = host("linux", "", NULL, 0);
	struct image image = IMAGE(LINUX_AMD64, NO_VARIABLE);
	struct image_contents contents = {.glibc = "", .glibc_needed = "", .cpu_level = asked};
	image.platform.variant = variant;
	facts.cpu_level = has;
	EXPECT(&image, &contents, &facts, NULL, "platform.cpu-level", verdict, says);
}

static void test_cpu_level(void)
{
	expect_level("", 0, 1, NOTHING, "");
	expect_level("v1", 0, 0, NOTHING, "");
	expect_level("v3", 0, 2, COMPAT_CANNOT_WORK, "x86-64-v3, the host's processor has v2");
	expect_level("v3", 0, 4, COMPAT_WORKS, "v4");
	expect_level("v3", 0, 0, COMPAT_UNKNOWN, "not known");
	expect_level("", 4, 3, COMPAT_CANNOT_WORK, "programs of the image ask for x86-64-v4");
	expect_level("v2", 3, 3, COMPAT_WORKS, "x86-64-v3");
	expect_level("v99", 0, 1, NOTHING, "");
	struct host_facts facts = host("linux", "", NULL, 0);
	struct image_index_entry levels[] = {{.platform = {"linux", "amd64", "", ""}},
					     {.platform = {"linux", "amd64", "v2", ""}},
					     {.platform = {"linux", "amd64", "v3", ""}},
					     {.platform = {"linux", "amd64", "v4", ""}}};
	const struct image_index index = {.entries = levels, .count = 4};
	static const int wanted[] = {0, 0, 1, 2, 3};
	for (facts.cpu_level = 0; facts.cpu_level <= 4; facts.cpu_level++)
		UNIT_INT(compat_select(&index, &facts, &(struct compat_options){0}, NULL) - levels,
			 wanted[facts.cpu_level]);
}

static void expect_glibc(const char *driver, const char *has, const char *component, int verdict)
{
	struct host_facts facts = host("linux", "", NULL, 0);
	struct image image = IMAGE(LINUX_AMD64, NO_VARIABLE);
	struct contents_library library = {CONTENTS_C_LIBRARY, "lib/libc.so", component, "", 0};
	struct image_contents contents = {
		.glibc = has, .glibc_needed = "", .libraries = &library, .library_count = 1};
	facts.driver_glibc = driver;
	EXPECT(&image, &contents, &facts, NULL, "linux.driver-glibc", verdict, "");
}

static void test_glibc(void)
{
	expect_glibc("2.34", "2.36", "glibc", COMPAT_WORKS);
	expect_glibc("2.34", "2.4", "glibc", COMPAT_CANNOT_WORK);
	expect_glibc("2.34", "2.34", "glibc", COMPAT_WORKS);
	expect_glibc("2.34", "", "musl", COMPAT_CANNOT_WORK);
	expect_glibc("2.34", "", "glibc", COMPAT_UNKNOWN);
	expect_glibc("", "2.31", "glibc", NOTHING);
}

/* Rules of Linux say nothing of an image of Windows, and the other way round. */
static void test_other_system(void)
{
	struct host_facts facts = host("linux", "", NULL, 0);
	struct image image = IMAGE(WINDOWS("10.0.20348.2582"), NO_VARIABLE);
	struct contents_need need = {"/Files/app", "libfoo.so.1", "no file of that name"};
	struct image_contents contents = {
		.glibc = "", .glibc_needed = "", .needs = &need, .need_count = 1};
	facts.driver_glibc = "2.34";
	EXPECT(&image, &contents, &facts, NULL, "platform.os", COMPAT_CANNOT_WORK, "windows");
	EXPECT(&image, &contents, &facts, NULL, "linux.driver-glibc", NOTHING, "");
	EXPECT(&image, &contents, &facts, NULL, "linux.missing-libraries", NOTHING, "");
	image.platform.os = "";
	EXPECT(&image, &contents, &facts, NULL, "linux.driver-glibc", COMPAT_UNKNOWN, "");
	facts = host("windows", "10.0.20348.887", NULL, 0);
	image.platform.os = "linux";
	EXPECT(&image, &contents, &facts, NULL, "windows.build", NOTHING, "");
}

static void test_missing(void)
{
	static const char rule[] = "linux.missing-libraries";
	struct host_gpu device = gpu("nvidia", "Tesla T4", "550.54.15");
	struct host_facts facts = host("linux", "", &device, 1);
	struct image image = IMAGE(LINUX_AMD64, NO_VARIABLE);
	struct contents_need needs[] = {
		{"usr/bin/app", "libcuda.so.1", "no file of that name"},
		{"usr/bin/other", "libX11.so.6", "no file of that name"},
		{"usr/bin/app", "libc.so.6", ""},
	};
	struct image_contents contents = {
		.glibc = "2.36", .glibc_needed = "", .needs = needs, .need_count = 1};
	const char *entrypoint[] = {"/usr/bin/app"};
	image.entrypoint = entrypoint;
	image.entrypoint_count = 1;
	EXPECT(&image, &contents, &facts, NULL, rule, NOTHING, "");
	contents.need_count = 3;
	EXPECT(&image, &contents, &facts, NULL, rule, COMPAT_WORKS,
	       "usr/bin/other needs libX11.so.6");
	facts.gpu_count = 0;
	EXPECT(&image, &contents, &facts, NULL, rule, COMPAT_CANNOT_WORK,
	       "which the image starts, needs libcuda.so.1");
	needs[0].name = "GLIBC_2.38";
	needs[0].missing = "the image has 2.36";
	entrypoint[0] = "app";
	EXPECT(&image, &contents, &facts, NULL, rule, COMPAT_CANNOT_WORK,
	       "GLIBC_2.38: the image has");
	needs[1].path = "/bin/app"; /* /bin is a link to /usr/bin */
	EXPECT(&image, &contents, &facts, NULL, rule, COMPAT_CANNOT_WORK,
	       "app, which the image starts, needs GLIBC_2.38: the image has 2.36; libX11.so.6: "
	       "no file of that name");
	entrypoint[0] = "/usr/bin/app";
	EXPECT(&image, &contents, &facts, NULL, rule, COMPAT_CANNOT_WORK, "; libX11.so.6: ");
	entrypoint[0] = "/opt/app";
	EXPECT(&image, &contents, &facts, NULL, rule, COMPAT_WORKS, "2 needs of files");
}

static void expect_rocm(const char *release, const char *module, int verdict, const char *says)
{
	struct host_gpu device = gpu("amd", "AMD Instinct MI210", module);
	struct host_facts facts = host("linux", "", &device, 1);
	struct image image = IMAGE(LINUX_AMD64, {"ROCM_VERSION", release});
	EXPECT(&image, NULL, &facts, NULL, "rocm.release", verdict, says);
}

/* AMD's table: two releases before and two behind the driver's. */
static void test_rocm(void)
{
	expect_rocm("5.7.1", "6.7.0", COMPAT_WORKS, "of ROCm 6.1, which goes with 5.7 to 6.3");
	expect_rocm("6.3", "6.7.0", COMPAT_WORKS, "");
	expect_rocm("6.4.1", "6.7.0", COMPAT_CANNOT_WORK, "the image has ROCm 6.4");
	expect_rocm("5.6.0", "6.7.0", COMPAT_CANNOT_WORK, "ROCm 5.6");
	expect_rocm("6.2.4", "6.3.6", COMPAT_WORKS, "");
	expect_rocm("6.3.0", "6.3.6", COMPAT_CANNOT_WORK, "ROCm 6.0");
	expect_rocm("6.3.0", "6.16.13", COMPAT_WORKS, "ROCm 7.2");
	expect_rocm("6.0.0", "6.1.0-18-amd64", COMPAT_UNKNOWN, "a release that is not known");
	expect_rocm("6.0.0", "", COMPAT_UNKNOWN, "(not known)");
	expect_rocm("6.0.0", "5.0.1", COMPAT_UNKNOWN, "a release that is not known");
	expect_rocm("six", "6.7.0", NOTHING, "");
}

static void test_amd_architecture(void)
{
	struct host_gpu device = gpu("amd", "AMD Instinct MI210", "6.7.0");
	struct host_facts facts = host("linux", "", &device, 1);
	struct image image =
		IMAGE(LINUX_AMD64, {"PYTORCH_ROCM_ARCH", "gfx908;gfx90a:xnack-;gfx1100"});
	EXPECT(&image, NULL, &facts, NULL, "amd.architecture", COMPAT_UNKNOWN, "not known");
	device.architecture = "gfx90a";
	EXPECT(&image, NULL, &facts, NULL, "amd.architecture", COMPAT_WORKS, "gfx90a");
	device.architecture = "gfx110";
	EXPECT(&image, NULL, &facts, NULL, "amd.architecture", COMPAT_CANNOT_WORK, "gfx110");
	device.architecture = "gfx1100";
	EXPECT(&image, NULL, &facts, NULL, "amd.architecture", COMPAT_WORKS, "");
	struct host_gpu two[] = {device, device};
	two[0].architecture = "gfx906";
	facts = host("linux", "", two, 2);
	EXPECT(&image, NULL, &facts, NULL, "amd.architecture", COMPAT_UNKNOWN, "gfx906");
}

static void test_intel(void)
{
	struct host_gpu device = gpu("intel", "HD Graphics 530", "6.1.0-18-amd64");
	struct host_facts facts = host("linux", "", &device, 1);
	struct image image = IMAGE(LINUX_AMD64, NO_VARIABLE);
	struct contents_library libraries[] = {
		{CONTENTS_DRIVER_LIBRARY, "usr/lib/libze_intel_gpu.so.1.6.32567", "level-zero",
		 "1.6.32567", 0},
		{CONTENTS_DRIVER_LIBRARY, "usr/lib/libze_intel_gpu_legacy1.so.1.3.30872",
		 "level-zero", "1.3.30872", 0}};
	struct image_contents contents = {
		.glibc = "", .glibc_needed = "", .libraries = libraries, .library_count = 1};
	EXPECT(&image, &contents, &facts, NULL, "intel.platform", COMPAT_WORKS, "any kernel");
	device.architecture = "gen9";
	EXPECT(&image, &contents, &facts, NULL, "intel.platform", COMPAT_CANNOT_WORK, "gen9");
	contents.library_count = 2;
	EXPECT(&image, &contents, &facts, NULL, "intel.platform", COMPAT_WORKS, "");
	contents.library_count = 1;
	libraries[0].version = "1.3.27642";
	EXPECT(&image, &contents, &facts, NULL, "intel.platform", COMPAT_WORKS, "27642");
}

/* What strangers wrote does not reach a terminal as it is, and the worst comes first. */
static void test_print(void)
{
	struct compat_answer answer CLEANUP_COMPAT_ANSWER = {0};
	struct text text CLEANUP_TEXT = {0};
	struct host_facts facts = host("linux", "", NULL, 0);
	struct image image = IMAGE(LINUX_AMD64, NO_VARIABLE);
	UNIT_INT(compat_answer_verdict(&answer), COMPAT_UNKNOWN);
	image.platform.architecture = "\033[31mx";
	compat_check(&image, NULL, &facts, &(struct compat_options){0}, &answer);
	compat_answer_print(&answer, false, &text);
	UNIT_CONTAINS(text_string(&text), "cannot work\n\nplatform.architecture: cannot work\n  "
					  "image: \\x1b[31mx; host");
	CU_ASSERT_TRUE(strchr(text_string(&text), '\033') == NULL);
	UNIT_STRING(compat_verdict_name(COMPAT_HYPERV), "hyper-v-only");
}

UNIT_MAIN("rules of any image", {"table", test_rule_table},
	  {"system and architecture", test_os_and_architecture},
	  {"processor level", test_cpu_level}, {"glibc", test_glibc},
	  {"another system", test_other_system}, {"missing libraries", test_missing},
	  {"ROCm", test_rocm}, {"AMD's architectures", test_amd_architecture},
	  {"Intel", test_intel}, {"output", test_print})
