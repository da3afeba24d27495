/* SPDX-License-Identifier: MIT */
/* The configuration of device-plugin-wddm and device-plugin-mcdm: names and rules of the DirectX
 * plugins. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "reference-plugin/answer/answer.h"
#include "reference-plugin/configuration/settings.h"
#include "reference-plugin/programs.h"

#include <uv.h>

#define CLEANUP_CONFIG CLEANUP(config_free)

static struct {
	char *directory;
	char *file;
} fixture;

static void write_to(const char *path, const char *content)
{
	UNIT_INT(file_write_atomic(path, content, strlen(content), 0644, NULL), 0);
}

static void expect_load_error(const struct config_program *program, int code, const char *part)
{
	struct config config CLEANUP_CONFIG = {0};
	struct config_options options = {0};
	struct error err = {0};
	UNIT_INT(config_load(program, &options, &config, &err), code);
	UNIT_CONTAINS(err.text, part);
}

static void test_defaults(void)
{
	struct config wddm CLEANUP_CONFIG = {0};
	struct config mcdm CLEANUP_CONFIG = {0};
	struct config_options options = {.file = fixture.file};
	struct error err = {0};
	write_to(fixture.file, "");
	UNIT_INT(config_load(&program_wddm, &options, &wddm, &err), 0);
	UNIT_INT(config_load(&program_mcdm, &options, &mcdm, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(wddm.resource, CONFIG_RESOURCE_DISPLAY);
	UNIT_INT(mcdm.resource, CONFIG_RESOURCE_COMPUTE);
	UNIT_STRING(config_resource_name(&wddm, true), "directx.microsoft.com/display");
	UNIT_STRING(config_resource_name(&mcdm, false), "directx.microsoft.com/compute");
	UNIT_INT(wddm.multitenancy, 1);
	UNIT_INT(wddm.allocation, ANSWER_LOCATION_PATH);
	UNIT_INT(wddm.several_devices, CONFIG_SEVERAL_REFUSE);
	CU_ASSERT_FALSE(wddm.skip_runtime_mounts);
	CU_ASSERT_FALSE(wddm.include_software);
	CU_ASSERT_FALSE(wddm.include_integrated);
	CU_ASSERT_FALSE(wddm.include_detachable);
}

/* The names of upstream, byte for byte. */
static void test_environment(void)
{
	static const char *const variables[][2] = {
		{"WDDM_DEVICE_PLUGIN_MULTITENANCY", "4"},
		{"WDDM_DEVICE_PLUGIN_INCLUDE_INTEGRATED", "1"},
		{"WDDM_DEVICE_PLUGIN_INCLUDE_DETACHABLE", "TRUE"},
		{"WDDM_DEVICE_PLUGIN_SKIP_RUNTIME_MOUNTS", "true"},
		{"WDDM_DEVICE_PLUGIN_ALLOCATION", "class"},
		{"MCDM_DEVICE_PLUGIN_MULTITENANCY", "7"},
	};
	struct config config CLEANUP_CONFIG = {0};
	struct config_options options = {.file = fixture.file};
	struct error err = {0};
	write_to(fixture.file, "multitenancy: 2\nskipRuntimeMounts: false\n");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		(void)uv_os_setenv(variables[i][0], variables[i][1]);
	UNIT_INT(config_load(&program_wddm, &options, &config, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(config.multitenancy, 4);
	CU_ASSERT_TRUE(config.include_integrated);
	CU_ASSERT_TRUE(config.include_detachable);
	CU_ASSERT_TRUE(config.skip_runtime_mounts);
	UNIT_INT(config.allocation, ANSWER_CLASS);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		(void)uv_os_unsetenv(variables[i][0]);
}

static void test_bad_values_are_named(void)
{
	static const char *const bad[] = {"-1", "4294967295", "18446744073709551617", "2.7", "abc"};
	(void)uv_os_setenv("MCDM_DEVICE_PLUGIN_CONFIG_FILE", fixture.file);
	write_to(fixture.file, "");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *wanted CLEANUP_FREE = text_format(
			"environment variable MCDM_DEVICE_PLUGIN_MULTITENANCY: '%s' is not a whole "
			"number from 0 to 10000",
			bad[i]);
		(void)uv_os_setenv("MCDM_DEVICE_PLUGIN_MULTITENANCY", bad[i]);
		expect_load_error(&program_mcdm,
				  bad[i][0] == '2' || bad[i][0] == 'a' ? ERROR_FORMAT : ERROR_LIMIT,
				  wanted);
	}
	(void)uv_os_unsetenv("MCDM_DEVICE_PLUGIN_MULTITENANCY");
	write_to(fixture.file, "multitenancy: -1\n");
	expect_load_error(&program_mcdm, ERROR_LIMIT,
			  ":1: multitenancy: '-1' is not a whole number from 0 to 10000");
	write_to(fixture.file, "multitenancy: 2\nincludeIntegratd: true\n");
	expect_load_error(&program_mcdm, ERROR_FORMAT, ":2: unknown key 'includeIntegratd'");
	write_to(fixture.file, "sysfs: /sys\n");
	expect_load_error(&program_mcdm, ERROR_FORMAT, ":1: unknown key 'sysfs'");
	(void)uv_os_unsetenv("MCDM_DEVICE_PLUGIN_CONFIG_FILE");
}

static void test_config_file_variable(void)
{
	(void)uv_os_setenv("WDDM_DEVICE_PLUGIN_CONFIG_FILE", "");
	expect_load_error(&program_wddm, ERROR_FORMAT,
			  "environment variable WDDM_DEVICE_PLUGIN_CONFIG_FILE: '' is not an "
			  "absolute path");
	(void)uv_os_setenv("WDDM_DEVICE_PLUGIN_CONFIG_FILE", "wddm.yaml");
	expect_load_error(&program_wddm, ERROR_FORMAT, "'wddm.yaml' is not an absolute path");
	(void)uv_os_setenv("WDDM_DEVICE_PLUGIN_CONFIG_FILE", "/nonexistent/wddm.yaml");
	expect_load_error(&program_wddm, ERROR_NOT_FOUND, "there is no '/nonexistent/wddm.yaml'");
	(void)uv_os_unsetenv("WDDM_DEVICE_PLUGIN_CONFIG_FILE");
}

static void expect_found(const char *const *directories, const char *directory, const char *name)
{
	char *found CLEANUP_FREE = config_search(directories, "wddm");
	char *wanted CLEANUP_FREE = path_join(directory, name);
	UNIT_STRING(found, wanted);
}

static void test_search(void)
{
	char *first CLEANUP_FREE = path_join(fixture.directory, "first");
	char *second CLEANUP_FREE = path_join(fixture.directory, "second");
	char *trap CLEANUP_FREE = path_join(first, "wddm.json");
	char *bare CLEANUP_FREE = path_join(second, "wddm");
	char *ini CLEANUP_FREE = path_join(second, "wddm.ini");
	char *yml CLEANUP_FREE = path_join(second, "wddm.yml");
	char *toml CLEANUP_FREE = path_join(first, "wddm.toml");
	const char *const directories[] = {first, second, NULL};
	char *nothing CLEANUP_FREE = NULL;
	UNIT_INT(file_make_directories(trap, 0755, NULL), 0);
	UNIT_INT(file_make_directories(second, 0755, NULL), 0);
	nothing = config_search(directories, "wddm");
	UNIT_STRING(nothing, "");
	write_to(bare, "");
	expect_found(directories, second, "wddm");
	write_to(ini, "");
	expect_found(directories, second, "wddm.ini");
	write_to(yml, "");
	expect_found(directories, second, "wddm.yml");
	write_to(toml, "");
	expect_found(directories, first, "wddm.toml");
}

static void test_additional_mounts(void)
{
	static const char yaml[] = "Multitenancy: 2\n"
				   "additionalMounts:\n"
				   "  Advanced Micro Devices, Inc.:\n"
				   "    - {source: amf/amfrt64.dll}\n"
				   "  0x10de:\n"
				   "    - {Source: a.exe, Destination: b.exe}\n"
				   "additionalmountswow64:\n"
				   "  nvidia:\n"
				   "    - source: nvml32.dll\n"
				   "      destination: nvml.dll\n";
	struct config config CLEANUP_CONFIG = {0};
	struct config_options options = {.file = fixture.file};
	const struct additional_mount *mounts = NULL;
	struct text table CLEANUP_TEXT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	struct error err = {0};
	write_to(fixture.file, yaml);
	UNIT_INT(config_load(&program_wddm, &options, &config, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(config.multitenancy, 2);
	CU_ASSERT_EQUAL_FATAL(config.additional_mounts.count, 3);
	mounts = config.additional_mounts.items;
	UNIT_STRING(mounts[0].vendor, "Advanced Micro Devices, Inc.");
	UNIT_STRING(mounts[0].source, "amf\\amfrt64.dll");
	UNIT_STRING(mounts[0].destination, "C:\\Windows\\System32\\amfrt64.dll");
	UNIT_STRING(mounts[1].vendor, "0x10de");
	UNIT_STRING(mounts[1].destination, "C:\\Windows\\System32\\b.exe");
	UNIT_INT(mounts[2].kind, ADDITIONAL_MOUNT_SYSWOW64);
	UNIT_STRING(mounts[2].destination, "C:\\Windows\\SysWOW64\\nvml.dll");
	config_print(&config, &table);
	UNIT_CONTAINS(text_string(&table), "additionalMountsWow64  nvidia: nvml32.dll => ");
	json = config_to_json(&config);
	UNIT_STRING(json_pointer(json, "/additionalMountsWow64/value/0/vendor")->valuestring,
		    "nvidia");
	CU_ASSERT_PTR_NULL(json_pointer(json, "/additionalMountsWow64/value/1"));
	CU_ASSERT_PTR_NOT_NULL(json_pointer(json, "/additionalMounts/value/1"));
}

static void expect_yaml_error(const char *yaml, const char *wanted)
{
	struct config config CLEANUP_CONFIG = {.program = &program_wddm};
	struct error err = {0};
	UNIT_INT(config_parse_yaml("f.yaml", yaml, strlen(yaml), &config, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, wanted);
}

static void test_bad_mounts_are_named(void)
{
	expect_yaml_error("multitenancy: 2\nMULTITENANCY: 3\n",
			  "f.yaml:2: key 'MULTITENANCY' is given twice");
	expect_yaml_error("additionalMounts: {NVIDIA: [], nvidia: []}\n",
			  "f.yaml:1: key 'nvidia' is given twice");
	expect_yaml_error("additionalMountsWow64: [1]\n",
			  "f.yaml:1: additionalMountsWow64 is not a mapping from vendors to lists");
	expect_yaml_error("additionalMounts: {a: [{}]}\n", "f.yaml:1: a mount has no source");
	expect_yaml_error(
		"additionalMountsWow64:\n  a:\n  - {source: 'C:\\x.dll'}\n",
		"f.yaml:3: additionalMountsWow64: source 'C:\\x.dll' is not a path below "
		"the driver's directory: no drive, no leading separator, no '..', no '.'");
	expect_yaml_error("additionalMounts: {a: [{source: x, destination: y/z}]}\n",
			  "f.yaml:1: additionalMounts: destination 'y/z' is not a file name: the "
			  "file goes into C:\\Windows\\System32");
	expect_yaml_error("additionalMounts: {a: [{source: ../x}]}\n",
			  "f.yaml:1: additionalMounts: source '../x' is not a path below the "
			  "driver's directory: no drive, no leading separator, no '..', no '.'");
}

static void expect_default_values(const struct config_program *program, const char *file)
{
	struct config config CLEANUP_CONFIG = {0};
	struct config_options options = {.file = file};
	struct error err = {0};
	UNIT_INT(config_load(program, &options, &config, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(config.additional_mounts.count, 2);
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		struct text value CLEANUP_TEXT = {0};
		if (config.origins[i].layer != CONFIG_FILE)
			continue;
		setting_format(&settings[i], &config, &value);
		UNIT_STRING(text_string(&value), setting_initial(&settings[i], program));
	}
}

static void test_example_files(void)
{
	expect_default_values(&program_wddm,
			      GPUCERT_SOURCE_DIR "/reference-plugin/deploy/wddm.yaml");
	expect_default_values(&program_mcdm,
			      GPUCERT_SOURCE_DIR "/reference-plugin/deploy/mcdm.yaml");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"defaults", test_defaults},
		{"environment", test_environment},
		{"bad values are named", test_bad_values_are_named},
		{"CONFIG_FILE", test_config_file_variable},
		{"search", test_search},
		{"additional mounts", test_additional_mounts},
		{"bad mounts are named", test_bad_mounts_are_named},
		{"example files", test_example_files},
		CU_TEST_INFO_NULL,
	};
	int failed = 1;
	if (file_make_temporary("/tmp", "gpucert-plugin-", &fixture.directory, NULL) == 0) {
		fixture.file = path_join(fixture.directory, "plugin.yaml");
		failed = unit_run("DirectX configuration", tests);
		(void)file_remove_tree(fixture.directory, NULL);
	}
	free(fixture.file);
	free(fixture.directory);
	return failed;
}
