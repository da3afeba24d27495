/* SPDX-License-Identifier: MIT */
#include "containers/launch/launch.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "containers/grant/tests/entries.h"

#include <string.h>
#include <time.h>

static void expect_sound(const struct grant *grant)
{
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	launch_check_grant(grant, LAUNCH_LINUX, &offences);
	CU_ASSERT_EQUAL(offences.count, 0);
}

/* Exactly one offence, with exactly this sentence. */
static void expect_offence(const struct grant *grant, const char *sentence)
{
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	launch_check_grant(grant, LAUNCH_LINUX, &offences);
	CU_ASSERT_EQUAL_FATAL(offences.count, 1);
	CU_ASSERT_STRING_EQUAL(offences.items[0], sentence);
}

/* Its time is the harness' own: comparing each with each would take minutes. */
static void test_many_devices(void)
{
	enum { COUNT = 100000 };
	struct grant_entry *devices CLEANUP_FREE = calloc(COUNT, sizeof(*devices));
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	struct grant spec = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(devices);
	for (size_t i = 0; devices != NULL && i < COUNT; i++) {
		text_list_take(&paths, text_format("/dev/gpu%zu", i));
		devices[i] = (struct grant_entry)DEVICE("/dev/null", paths.items[i], "rw");
	}
	spec.devices = (struct grant_list){devices, COUNT};
	clock_t start = clock();
	expect_sound(&spec);
	devices[COUNT - 1].container_path = "/dev/gpu0";
	expect_offence(&spec, "container path /dev/gpu0: used twice");
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
}

static void test_a_sound_spec_passes(void)
{
	struct grant_entry mounts[] = {
		MOUNT("/proc/self/exe", "/usr/lib/x.so", true),
		MOUNT("/proc", "/host..proc", true),
	};
	struct grant_entry devices[] = {DEVICE("/dev/null", "/dev/gpu0", "rwm")};
	struct grant_entry envs[] = {VARIABLE("VK_DRIVER_FILES", "/a.json"), VARIABLE("EMPTY", "")};
	expect_sound(&(struct grant){
		.mounts = {mounts, ARRAY_SIZE(mounts)},
		.devices = {devices, ARRAY_SIZE(devices)},
		.envs = {envs, ARRAY_SIZE(envs)},
	});
}

static void test_bad_mounts_are_named(void)
{
	static struct {
		struct grant_entry mount;
		const char *sentence;
	} cases[] = {
		{MOUNT("/nonexistent/lib.so", "/lib.so", true),
		 "mount source /nonexistent/lib.so: no such file or directory"},
		{MOUNT("/dev/null/x", "/lib.so", true),
		 "mount source /dev/null/x: not a directory"},
		{MOUNT("usr/lib", "/lib", true), "mount source usr/lib: path is not absolute"},
		{MOUNT("/usr/../etc", "/lib", true), "mount source /usr/../etc: path holds \"..\""},
		{MOUNT("/..", "/lib", true), "mount source /..: path holds \"..\""},
		{MOUNT("", "/lib", true), "mount source: path is empty"},
		{MOUNT("/usr", "lib", true), "mount target lib: path is not absolute"},
		{MOUNT("/usr", "/lib/..", true), "mount target /lib/..: path holds \"..\""},
		{MOUNT("/usr", "//.", true), "mount target //.: path is the root of the container"},
		{MOUNT("/usr", "", true), "mount target: path is empty"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_offence(&(struct grant){.mounts = {&cases[i].mount, 1}}, cases[i].sentence);
}

static void test_bad_devices_are_named(void)
{
	static struct {
		struct grant_entry device;
		const char *sentence;
	} cases[] = {
		{DEVICE("/dev/nonexistent", "/dev/x", "rw"),
		 "device node /dev/nonexistent: no such file or directory"},
		{DEVICE("/etc/passwd", "/dev/x", "rw"),
		 "device node /etc/passwd: not a character or block device"},
		{DEVICE("/dev", "/dev/x", "rw"),
		 "device node /dev: not a character or block device"},
		{DEVICE("/dev/null", "/dev/x", ""),
		 "device node /dev/null: permissions \"\" are not letters of \"rwm\""},
		{DEVICE("/dev/null", "/dev/x", "rwx"),
		 "device node /dev/null: permissions \"rwx\" are not letters of \"rwm\""},
		{DEVICE("/dev/null", "dev/x", "rw"), "device target dev/x: path is not absolute"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_offence(&(struct grant){.devices = {&cases[i].device, 1}},
			       cases[i].sentence);
}

static void test_container_paths_are_used_once(void)
{
	struct grant_entry mounts[] = {MOUNT("/usr", "/x", true), MOUNT("/etc", "/x", true)};
	struct grant_entry device = DEVICE("/dev/null", "/x", "r");
	expect_offence(&(struct grant){.mounts = {mounts, 2}}, "container path /x: used twice");
	expect_offence(&(struct grant){.mounts = {mounts, 1}, .devices = {&device, 1}},
		       "container path /x: used twice");
}

static void test_names_of_variables_are_checked(void)
{
	struct grant_entry empty = VARIABLE("", "x");
	struct grant_entry equals = VARIABLE("A=B", "x");
	expect_offence(&(struct grant){.envs = {&empty, 1}}, "environment variable: name is empty");
	expect_offence(&(struct grant){.envs = {&equals, 1}},
		       "environment variable A=B: name holds '='");
}

static void test_every_offender_is_listed(void)
{
	struct grant_entry mounts[] = {MOUNT("/missing/1", "/a", true), MOUNT("/usr", "/b", true),
				       MOUNT("/missing/2", "/c", true)};
	const struct grant spec = {.mounts = {mounts, 3}};
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	launch_check_grant(&spec, LAUNCH_LINUX, &offences);
	CU_ASSERT_EQUAL_FATAL(offences.count, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(offences.items[0], "/missing/1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(offences.items[1], "/missing/2"));
}

UNIT_MAIN("launch_check_grant", {"a sound spec passes", test_a_sound_spec_passes},
	  {"100,000 devices", test_many_devices},
	  {"bad mounts are named", test_bad_mounts_are_named},
	  {"bad devices are named", test_bad_devices_are_named},
	  {"container paths are used once", test_container_paths_are_used_once},
	  {"names of variables are checked", test_names_of_variables_are_checked},
	  {"every offender is listed", test_every_offender_is_listed})
