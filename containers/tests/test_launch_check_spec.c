/* SPDX-License-Identifier: MIT */
#include "containers/launch/launch.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"

#include <string.h>
#include <time.h>

static const char *const command[] = {"probe-vulkan", NULL};

static void expect_sound(const struct launch_spec *spec)
{
	struct error err = {0};

	CU_ASSERT_EQUAL(launch_check_spec(spec, LAUNCH_LINUX, NULL, &err), 0);
	CU_ASSERT_STRING_EQUAL(err.text, "");
}

/* Exactly one offence, with exactly this sentence. */
static void expect_offence(const struct launch_spec *spec, const char *sentence)
{
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	struct error err = {0};

	CU_ASSERT_EQUAL(launch_check_spec(spec, LAUNCH_LINUX, &offences, &err), ERROR_ARGUMENT);
	CU_ASSERT_STRING_EQUAL(err.text, sentence);
	CU_ASSERT_EQUAL_FATAL(offences.count, 1);
	CU_ASSERT_STRING_EQUAL(offences.items[0], sentence);
}

/* Its time is the harness' own: comparing each with each would take minutes. */
static void test_many_devices(void)
{
	enum { COUNT = 100000 };
	struct launch_device *devices CLEANUP_FREE = calloc(COUNT, sizeof(*devices));
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	struct launch_spec spec = {.name = "probe-1", .command = command, .device_count = COUNT};

	CU_ASSERT_PTR_NOT_NULL_FATAL(devices);
	for (size_t i = 0; devices != NULL && i < COUNT; i++) {
		CU_ASSERT_EQUAL_FATAL(text_list_take(&paths, text_format("/dev/gpu%zu", i), NULL),
				      0);
		devices[i] = (struct launch_device){"/dev/null", paths.items[i], "rw"};
	}
	spec.devices = devices;
	clock_t start = clock();
	expect_sound(&spec);
	devices[COUNT - 1].container_path = "/dev/gpu0";
	expect_offence(&spec, "container path /dev/gpu0: used twice");
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
}

static void test_a_sound_spec_passes(void)
{
	const struct launch_mount mounts[] = {
		{"/proc/self/exe", "/usr/lib/x.so", true},
		{"/proc", "/host..proc", true},
	};
	const struct launch_device devices[] = {{"/dev/null", "/dev/gpu0", "rwm"}};
	const struct launch_variable envs[] = {{"VK_DRIVER_FILES", "/a.json"}, {"EMPTY", ""}};

	expect_sound(&(struct launch_spec){
		.name = "probe-1",
		.command = command,
		.mounts = mounts,
		.mount_count = ARRAY_SIZE(mounts),
		.devices = devices,
		.device_count = ARRAY_SIZE(devices),
		.envs = envs,
		.env_count = ARRAY_SIZE(envs),
	});
}

static void test_bad_mounts_are_named(void)
{
	static const struct {
		struct launch_mount mount;
		const char *sentence;
	} cases[] = {
		{{"/nonexistent/lib.so", "/lib.so", true},
		 "mount source /nonexistent/lib.so: no such file or directory"},
		{{"/dev/null/x", "/lib.so", true}, "mount source /dev/null/x: not a directory"},
		{{"usr/lib", "/lib", true}, "mount source usr/lib: path is not absolute"},
		{{"/usr/../etc", "/lib", true}, "mount source /usr/../etc: path holds \"..\""},
		{{"/..", "/lib", true}, "mount source /..: path holds \"..\""},
		{{"", "/lib", true}, "mount source: path is empty"},
		{{"/usr", "lib", true}, "mount target lib: path is not absolute"},
		{{"/usr", "/lib/..", true}, "mount target /lib/..: path holds \"..\""},
		{{"/usr", "//.", true}, "mount target //.: path is the root of the container"},
		{{"/usr", NULL, true}, "mount target: path is empty"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_offence(&(struct launch_spec){.name = "a",
						     .command = command,
						     .mounts = &cases[i].mount,
						     .mount_count = 1},
			       cases[i].sentence);
}

static void test_bad_devices_are_named(void)
{
	static const struct {
		struct launch_device device;
		const char *sentence;
	} cases[] = {
		{{"/dev/nonexistent", "/dev/x", "rw"},
		 "device node /dev/nonexistent: no such file or directory"},
		{{"/etc/passwd", "/dev/x", "rw"},
		 "device node /etc/passwd: not a character or block device"},
		{{"/dev", "/dev/x", "rw"}, "device node /dev: not a character or block device"},
		{{"/dev/null", "/dev/x", ""},
		 "device node /dev/null: permissions \"\" are not letters of \"rwm\""},
		{{"/dev/null", "/dev/x", "rwx"},
		 "device node /dev/null: permissions \"rwx\" are not letters of \"rwm\""},
		{{"/dev/null", "dev/x", "rw"}, "device target dev/x: path is not absolute"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_offence(&(struct launch_spec){.name = "a",
						     .command = command,
						     .devices = &cases[i].device,
						     .device_count = 1},
			       cases[i].sentence);
}

static void test_container_paths_are_used_once(void)
{
	const struct launch_mount mounts[] = {{"/usr", "/x", true}, {"/etc", "/x", true}};
	const struct launch_device device = {"/dev/null", "/x", "r"};

	expect_offence(
		&(struct launch_spec){
			.name = "a", .command = command, .mounts = mounts, .mount_count = 2},
		"container path /x: used twice");
	expect_offence(&(struct launch_spec){.name = "a",
					     .command = command,
					     .mounts = mounts,
					     .mount_count = 1,
					     .devices = &device,
					     .device_count = 1},
		       "container path /x: used twice");
}

static void test_names_and_commands_are_checked(void)
{
	const struct launch_variable empty = {"", "x"};
	const struct launch_variable equals = {"A=B", "x"};
	const struct launch_variable unset = {"A", NULL};
	const char *const none[] = {NULL};

	expect_offence(&(struct launch_spec){.name = "", .command = command},
		       "container name \"\": not 1 to 63 of [a-z0-9-]");
	expect_offence(&(struct launch_spec){.name = "A/b", .command = command},
		       "container name \"A/b\": not 1 to 63 of [a-z0-9-]");
	expect_offence(&(struct launch_spec){.name = "a", .command = none}, "command is empty");
	expect_offence(
		&(struct launch_spec){
			.name = "a", .command = command, .envs = &empty, .env_count = 1},
		"environment variable: name is empty");
	expect_offence(
		&(struct launch_spec){
			.name = "a", .command = command, .envs = &equals, .env_count = 1},
		"environment variable A=B: name holds '='");
	expect_offence(
		&(struct launch_spec){
			.name = "a", .command = command, .envs = &unset, .env_count = 1},
		"environment variable A: no value");
}

static void test_every_offender_is_listed(void)
{
	const struct launch_mount mounts[] = {
		{"/missing/1", "/a", true}, {"/usr", "/b", true}, {"/missing/2", "/c", true}};
	const struct launch_spec spec = {
		.name = "a", .command = command, .mounts = mounts, .mount_count = 3};
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	struct error err = {0};

	CU_ASSERT_EQUAL(launch_check_spec(&spec, LAUNCH_LINUX, &offences, &err), ERROR_ARGUMENT);
	CU_ASSERT_EQUAL_FATAL(offences.count, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(offences.items[0], "/missing/1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(offences.items[1], "/missing/2"));
	CU_ASSERT_STRING_EQUAL(err.text, offences.items[0]);
}

UNIT_MAIN("launch_check_spec", {"a sound spec passes", test_a_sound_spec_passes},
	  {"100,000 devices", test_many_devices},
	  {"bad mounts are named", test_bad_mounts_are_named},
	  {"bad devices are named", test_bad_devices_are_named},
	  {"container paths are used once", test_container_paths_are_used_once},
	  {"names and commands are checked", test_names_and_commands_are_checked},
	  {"every offender is listed", test_every_offender_is_listed})
