/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/tests/starved.h"
#include "base/tests/unit.h"
#include "reference-plugin/answer/calls.h"
#include "reference-plugin/configuration/settings.h"

#include <uv.h>

#define CLEANUP_CONFIG CLEANUP(config_free)

static const struct config_program program = {
	.name = "test-plugin",
	.short_name = "test",
	.env_prefix = "TEST_PLUGIN_",
	.default_file = "/nonexistent/plugin.yaml",
	.display_name = "example.com/display",
	.compute_name = "example.com/compute",
};

static struct {
	char *directory;
	char *file;
} fixture;

static void write_file(const char *content)
{
	UNIT_INT(file_write_atomic(fixture.file, content, strlen(content), 0644, NULL), 0);
}

static size_t index_of(const char *key)
{
	return (size_t)(setting_find(&program, key) - settings);
}

static void test_defaults(void)
{
	struct config config CLEANUP_CONFIG = {0};
	struct config_options options = {0};
	struct error err = {0};
	UNIT_INT(config_load(&program, &options, &config, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(config.multitenancy, 1);
	UNIT_INT(config.resource, CONFIG_RESOURCE_BOTH);
	CU_ASSERT_FALSE(config.include_integrated);
	CU_ASSERT_FALSE(config.include_detachable);
	CU_ASSERT_TRUE(config.include_software);
	UNIT_INT(config.vendors.count, 0);
	UNIT_INT(config.apis.count, 0);
	UNIT_INT(config.preferred_allocation, PREFER_SPREAD);
	UNIT_INT(config.poll_interval_ms, 10000);
	UNIT_INT(config.removal_grace_ms, 300000);
#ifdef _WIN32
	UNIT_STRING(config.kubelet_socket, "C:\\var\\lib\\kubelet\\device-plugins\\kubelet.sock");
#else
	UNIT_STRING(config.kubelet_socket, "/var/lib/kubelet/device-plugins/kubelet.sock");
#endif
	UNIT_STRING(config.file, "");
}

static int load_starved(void *options)
{
	struct config config CLEANUP_CONFIG = {0};
	return config_load(&program, options, &config, NULL);
}

static void test_precedence(void)
{
	struct config config CLEANUP_CONFIG = {0};
	struct config_options options = {.file = fixture.file};
	struct error err = {0};
	write_file(
		"# sharing\nmultitenancy: '4'\nincludeIntegrated: yes\nremovalGrace: 500ms\n"
		"vendors: [Intel, \"Advanced Micro Devices, Inc.\"]\nlogLevel: ~\nnode:\napis: [vulkan]\n");
	(void)uv_os_setenv("TEST_PLUGIN_MULTITENANCY", "5");
	(void)uv_os_setenv("TEST_PLUGIN_REMOVAL_GRACE", "2m");
	(void)uv_os_setenv("TEST_PLUGIN_INCLUDE_INTEGRATED", "");
	options.values[index_of("multitenancy")] = "6";
	starved_each(load_starved, &options);
	UNIT_INT(config_load(&program, &options, &config, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(config.multitenancy, 6);
	UNIT_INT(config.removal_grace_ms, 120000);
	CU_ASSERT_TRUE(config.include_integrated);
	UNIT_INT(config.vendors.count, 2);
	UNIT_STRING(config.apis.items[0], "vulkan");
	UNIT_STRING(config.vendors.items[1], "Advanced Micro Devices, Inc.");
	UNIT_INT(config.origins[index_of("multitenancy")].layer, CONFIG_OPTION);
	UNIT_INT(config.origins[index_of("removalGrace")].layer, CONFIG_ENVIRONMENT);
	UNIT_INT(config.origins[index_of("includeIntegrated")].layer, CONFIG_FILE);
	UNIT_INT(config.origins[index_of("includeIntegrated")].line, 3);
	UNIT_INT(config.origins[index_of("logLevel")].layer, CONFIG_DEFAULT);
	(void)uv_os_unsetenv("TEST_PLUGIN_MULTITENANCY");
	(void)uv_os_unsetenv("TEST_PLUGIN_REMOVAL_GRACE");
	(void)uv_os_unsetenv("TEST_PLUGIN_INCLUDE_INTEGRATED");
}

static void test_file_from_environment(void)
{
	struct config config CLEANUP_CONFIG = {0};
	struct config missing CLEANUP_CONFIG = {0};
	struct config_options options = {0};
	struct error err = {0};
	write_file("multitenancy: 0\n");
	(void)uv_os_setenv("TEST_PLUGIN_CONFIG_FILE", fixture.file);
	UNIT_INT(config_load(&program, &options, &config, &err), 0);
	UNIT_STRING(config.file, fixture.file);
	UNIT_INT(config.multitenancy, 1);
	(void)uv_os_setenv("TEST_PLUGIN_CONFIG_FILE", "/nonexistent/a.yaml");
	UNIT_INT(config_load(&program, &options, &missing, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/nonexistent/a.yaml");
	(void)uv_os_unsetenv("TEST_PLUGIN_CONFIG_FILE");
}

static void expect_yaml_error(const char *yaml, int code, const char *wanted)
{
	struct config config CLEANUP_CONFIG = {.program = &program};
	struct error err = {0};
	UNIT_INT(config_parse_yaml("f.yaml", yaml, strlen(yaml), &config, &err), code);
	UNIT_STRING(err.text, wanted);
}

static void test_yaml_errors_name_the_line(void)
{
	expect_yaml_error("multitenancy: 2\nmultitenanncy: 3\n", ERROR_FORMAT,
			  "f.yaml:2: unknown key 'multitenanncy'");
	expect_yaml_error("multitenancy: 2\n\nmultitenancy: 3\n", ERROR_FORMAT,
			  "f.yaml:3: key 'multitenancy' is given twice");
	expect_yaml_error("includeIntegrated: maybe\n", ERROR_FORMAT,
			  "f.yaml:1: includeIntegrated: 'maybe' is neither true nor false");
	expect_yaml_error("multitenancy: [1]\n", ERROR_FORMAT,
			  "f.yaml:1: multitenancy: expected one value");
	expect_yaml_error("- a\n", ERROR_FORMAT, "f.yaml:1: the file is not a mapping");
	expect_yaml_error("node: a\n---\nnode: b\n", ERROR_FORMAT,
			  "f.yaml:2: a second document begins");
	expect_yaml_error("additionalMountsWow64: {}\n", ERROR_FORMAT,
			  "f.yaml:1: additionalMountsWow64 is for Windows: Linux has no SysWOW64");
	expect_yaml_error(
		"pollInterval: 10 fortnights\n", ERROR_FORMAT,
		"f.yaml:1: pollInterval: '10 fortnights' is not a duration such as 500ms, "
		"10s, 5m or 1h");
	expect_yaml_error("pollInterval: 0\n", ERROR_LIMIT,
			  "f.yaml:1: pollInterval: '0' is not between 100 ms and 3600 s");
	expect_yaml_error("resource: all\n", ERROR_FORMAT,
			  "f.yaml:1: resource: 'all' is not one of both, display, compute");
}

static void expect_yaml_refused(const char *yaml, const char *place)
{
	struct config config CLEANUP_CONFIG = {.program = &program};
	struct error err = {0};
	CU_ASSERT_TRUE(config_parse_yaml("f.yaml", yaml, strlen(yaml), &config, &err) < 0);
	UNIT_CONTAINS(err.text, place);
}

static void test_bad_counts_and_syntax(void)
{
	expect_yaml_error("multitenancy: -1\n", ERROR_LIMIT,
			  "f.yaml:1: multitenancy: '-1' is not a whole number from 0 to 10000");
	expect_yaml_refused("multitenancy: 4294967295\n", "f.yaml:1: multitenancy: ");
	expect_yaml_refused("multitenancy: 99999999999999999999999\n", "f.yaml:1: multitenancy: ");
	expect_yaml_refused("multitenancy: 2.7\n", "f.yaml:1: multitenancy: ");
	expect_yaml_refused("node: a\nmulti: [1,\n", "f.yaml:3: ");
	expect_yaml_refused("a: \"\\0\": x\n", "f.yaml:1: ");
	expect_yaml_refused("\xff\xfe\xfd", "f.yaml:");
	expect_yaml_refused("a: &a [*a, *a]\nb: *c\n", "f.yaml:");
}

static void test_additional_mounts(void)
{
	static const char yaml[] = "additionalMounts:\n"
				   "  NVIDIA:\n"
				   "    - {source: /usr/bin/nvidia-smi}\n"
				   "    - source: /opt/a\n"
				   "      destination: /opt/b\n"
				   "  Advanced Micro Devices, Inc.: []\n"
				   "  Intel:\n";
	struct config config CLEANUP_CONFIG = {.program = &program};
	struct error err = {0};
	UNIT_INT(config_parse_yaml("f.yaml", yaml, strlen(yaml), &config, &err), 0);
	UNIT_STRING(err.text, "");
	CU_ASSERT_EQUAL_FATAL(config.additional_mounts.count, 2);
	UNIT_STRING(config.additional_mounts.items[0].destination, "/usr/bin/nvidia-smi");
	UNIT_STRING(config.additional_mounts.items[1].destination, "/opt/b");
	expect_yaml_error(
		"additionalMounts: {a: [{source: ../x}]}\n", ERROR_FORMAT,
		"f.yaml:1: additionalMounts: source '../x' is not an absolute path without "
		"'..', '.' and '//'");
	expect_yaml_error(
		"additionalMounts: {a: [{source: /x, destination: /usr/../etc}]}\n", ERROR_FORMAT,
		"f.yaml:1: additionalMounts: destination '/usr/../etc' is not an absolute "
		"path without '..', '.' and '//'");
	expect_yaml_error("additionalMounts:\n  a:\n    - {source: /x, destination: /etc}\n",
			  ERROR_FORMAT,
			  "f.yaml:3: additionalMounts: destination '/etc' would replace a system "
			  "directory of the container");
	expect_yaml_error(
		"additionalMounts: {a: [{source: /x/}]}\n", ERROR_FORMAT,
		"f.yaml:1: additionalMounts: source '/x/' is not an absolute path without "
		"'..', '.' and '//'");
	expect_yaml_error("additionalMounts: {a: [{source: /x, destination: /proc/1}]}\n",
			  ERROR_FORMAT,
			  "f.yaml:1: additionalMounts: destination '/proc/1' lies in a kernel file "
			  "system");
	expect_yaml_error("additionalMounts: {a: [{destination: /x}]}\n", ERROR_FORMAT,
			  "f.yaml:1: a mount has no source");
	expect_yaml_error("additionalMounts: {a: [{source: /x, mode: rw}]}\n", ERROR_FORMAT,
			  "f.yaml:1: unknown key 'mode'");
	expect_yaml_error("additionalMounts: [1]\n", ERROR_FORMAT,
			  "f.yaml:1: additionalMounts is not a mapping from vendors to lists");
}

static void test_example_file(void)
{
	struct config config CLEANUP_CONFIG = {0};
	struct config plain CLEANUP_CONFIG = {0};
	struct config_options options = {.file = GPUCERT_SOURCE_DIR
					 "/reference-plugin/deploy/device-plugin-gpu.yaml"};
	struct config_options none = {0};
	struct error err = {0};
	UNIT_INT(config_load(&program, &options, &config, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(config_load(&program, &none, &plain, &err), 0);
	UNIT_INT(config.additional_mounts.count, 1);
	/* It says that its values are the defaults. */
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		struct text value CLEANUP_TEXT = {0};
		struct text initial CLEANUP_TEXT = {0};
		setting_format(&settings[i], &config, &value);
		setting_format(&settings[i], &plain, &initial);
		UNIT_STRING(text_string(&value), text_string(&initial));
	}
}

static void expect_load_error(struct config_options *options, const char *wanted)
{
	struct config config CLEANUP_CONFIG = {0};
	struct error err = {0};
	CU_ASSERT_TRUE(config_load(&program, options, &config, &err) < 0);
	UNIT_STRING(err.text, wanted);
}

static void test_errors_name_option_and_variable(void)
{
	struct config_options options = {0};
	options.values[index_of("logFormat")] = "xml";
	expect_load_error(&options, "option --log-format: 'xml' is not one of text, json");
	options = (struct config_options){0};
	(void)uv_os_setenv("TEST_PLUGIN_LOG_LEVEL", "loud");
	expect_load_error(&options, "environment variable TEST_PLUGIN_LOG_LEVEL: 'loud' is not one "
				    "of error, warning, info, debug");
	(void)uv_os_unsetenv("TEST_PLUGIN_LOG_LEVEL");
	options.values[index_of("resourceName")] = "example.com/gpu";
	expect_load_error(&options,
			  "a resource name is for one resource: choose display or compute "
			  "with --resource");
	options.values[index_of("resource")] = "display";
	options.values[index_of("resourceName")] = "gpu";
	expect_load_error(&options, "resource name 'gpu': there is no '/'");
}

static void test_print(void)
{
	struct config config CLEANUP_CONFIG = {0};
	struct config_options options = {.file = fixture.file};
	struct text table CLEANUP_TEXT = {0};
	struct text row CLEANUP_TEXT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	const cJSON *place = NULL;
	write_file("multitenancy: 3\nadditionalMounts:\n  Intel: [{source: /opt/x}]\n");
	UNIT_INT(config_load(&program, &options, &config, NULL), 0);
	config_print(&config, &table);
	text_add(&row, "multitenancy          3  (file ");
	text_add_escaped(&row, fixture.file, strlen(fixture.file));
	text_add(&row, ":1)\n");
	UNIT_CONTAINS(text_string(&table), text_string(&row));
	UNIT_CONTAINS(text_string(&table), "node                  -  (default)\n");
	UNIT_CONTAINS(text_string(&table), "additionalMounts      Intel: /opt/x => /opt/x  (file ");
	json = config_to_json(&config);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	UNIT_INT(json_pointer(json, "/multitenancy/value")->valueint, 3);
	UNIT_STRING(json_pointer(json, "/multitenancy/origin")->valuestring, "file");
	place = json_pointer(json, "/additionalMounts/place");
	CU_ASSERT_TRUE(text_ends_with(place->valuestring, "plugin.yaml:3"));
	UNIT_STRING(json_pointer(json, "/additionalMounts/value/0/vendor")->valuestring, "Intel");
	UNIT_STRING(json_pointer(json, "/logLevel/value")->valuestring, "info");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"defaults", test_defaults},
		{"option over environment over file over default", test_precedence},
		{"file from the environment", test_file_from_environment},
		{"YAML errors name the line", test_yaml_errors_name_the_line},
		{"bad counts and syntax", test_bad_counts_and_syntax},
		{"additional mounts", test_additional_mounts},
		{"example file", test_example_file},
		{"errors name option and variable", test_errors_name_option_and_variable},
		{"print", test_print},
		CU_TEST_INFO_NULL,
	};
	int failed = 1;
	if (file_make_temporary("/tmp", "gpucert-plugin-", &fixture.directory, NULL) == 0) {
		fixture.file = path_join(fixture.directory, "plugin.yaml");
		failed = unit_run("config", tests);
		(void)file_remove_tree(fixture.directory, NULL);
	}
	free(fixture.file);
	free(fixture.directory);
	return failed;
}
