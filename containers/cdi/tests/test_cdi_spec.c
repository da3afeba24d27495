/* SPDX-License-Identifier: MIT */
/* What is a Spec, what it needs, and the name of each defect. */
#include "base/tests/unit.h"
#include "base/yaml_json.h"
#include "containers/cdi/spec.h"

#define SPEC(version, edits)                                                                       \
	"{\"cdiVersion\": \"" version "\", \"kind\": \"v.com/gpu\", \"devices\": [{\"name\": "     \
	"\"a\", \"containerEdits\": {" edits "}}]}"
#define NAMED(kind, name)                                                                          \
	"{\"cdiVersion\": \"1.1.0\", \"kind\": \"" kind "\", \"devices\": [{\"name\": \"" name     \
	"\", \"containerEdits\": {\"env\": [\"A=b\"]}}]}"
#define TOP(members)                                                                               \
	"{\"cdiVersion\": \"1.1.0\", \"kind\": \"v.com/gpu\", \"devices\": [{\"name\": \"a\", "    \
	"\"containerEdits\": {\"env\": [\"A=b\"]}}], " members "}"
#define DEVICE "{\"name\": \"a\", \"containerEdits\": {\"env\": [\"A=b\"]}}"
#define DEVICES(list)                                                                              \
	"{\"cdiVersion\": \"1.1.0\", \"kind\": \"v.com/gpu\", \"devices\": [" list "]}"

static void expect(const char *file, const char *content, enum cdi_defect defect, const char *why)
{
	struct cdi_spec spec = {0};
	struct error err = {0};
	int rc = cdi_spec_parse(file, content, strlen(content), &spec, &err);
	UNIT_STRING(cdi_defect_name(spec.defect), cdi_defect_name(defect));
	CU_ASSERT_EQUAL(rc == 0, defect == CDI_NO_DEFECT);
	UNIT_CONTAINS(err.text, why);
	cdi_spec_free(&spec);
}

static void expect_needs(const char *content, const char *needed)
{
	struct cdi_spec spec = {0};
	struct error err = {0};
	UNIT_INT(cdi_spec_parse("a.json", content, strlen(content), &spec, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(spec.needed, needed);
	cdi_spec_free(&spec);
}

static void test_versions(void)
{
	static const struct {
		const char *content, *needed;
	} cases[] = {
		{SPEC("1.1.0", "\"env\": [\"A=b\"]"), "0.3.0"},
		{SPEC("1.1.0", "\"mounts\": [{\"hostPath\": \"/a\", \"containerPath\": \"/a\"}]"),
		 "0.3.0"},
		{SPEC("1.1.0", "\"mounts\": [{\"hostPath\": \"/a\", \"containerPath\": \"/a\", "
			       "\"type\": \"none\"}]"),
		 "0.4.0"},
		{SPEC("1.1.0", "\"mounts\": [{\"hostPath\": \"/a\", \"containerPath\": \"/a\", "
			       "\"type\": \"\"}]"),
		 "0.3.0"},
		{SPEC("1.1.0", "\"deviceNodes\": [{\"path\": \"/a\", \"hostPath\": \"/b\"}]"),
		 "0.5.0"},
		{NAMED("v.com/gpu", "0"), "0.5.0"},
		{NAMED("v.com/gpu.mig", "0"), "0.6.0"},
		{TOP("\"annotations\": {\"a\": \"b\"}"), "0.6.0"},
		{TOP("\"annotations\": {}"), "0.3.0"},
		{SPEC("1.1.0", "\"additionalGids\": [44]"), "0.7.0"},
		{SPEC("1.1.0", "\"intelRdt\": {}"), "0.7.0"},
		{SPEC("1.1.0", "\"intelRdt\": {\"enableMonitoring\": false}"), "0.7.0"},
		{SPEC("1.1.0", "\"intelRdt\": {\"enableMonitoring\": true}"), "1.1.0"},
		{SPEC("1.1.0", "\"intelRdt\": {\"closID\": \"/\", \"schemata\": [\"a\"]}"),
		 "1.1.0"},
		{SPEC("1.1.0", "\"netDevices\": [{\"hostInterfaceName\": \"a\", \"name\": \"b\"}]"),
		 "1.1.0"},
		{SPEC("0.4.0", "\"env\": [\"A=b\"], \"mounts\": null, \"hooks\": []"), "0.3.0"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_needs(cases[i].content, cases[i].needed);
}

static void test_wrong_version(void)
{
	expect("a.json",
	       SPEC("0.3.0", "\"deviceNodes\": [{\"path\": \"/a\", \"hostPath\": \"/b\"}]"),
	       CDI_VERSION_TOO_LOW,
	       "devices[0].containerEdits.deviceNodes[0].hostPath: needs cdiVersion 0.5.0, and the "
	       "file declares 0.3.0");
	expect("a.json", SPEC("0.2.0", "\"env\": [\"A=b\"]"), CDI_VERSION_TOO_LOW, "0.3.0");
	expect("a.json", SPEC("1.2.0", "\"env\": [\"A=b\"]"), CDI_UNKNOWN_VERSION, "'1.2.0'");
	expect("a.json", SPEC("0.3", "\"env\": [\"A=b\"]"), CDI_UNKNOWN_VERSION, "'0.3'");
}

static void test_names(void)
{
	static const char *const wrong[] = {
		NAMED("gpu", "a"),	   NAMED("v.com/", "a"),      NAMED("/gpu", "a"),
		NAMED("1v.com/gpu", "a"),  NAMED("v.com/gpu/x", "a"), NAMED("v.com/gpu-", "a"),
		NAMED("v.com/gpu", "-a"),  NAMED("v.com/gpu", "a:"),  NAMED("v.com/gpu", "a/b"),
		NAMED("v.com/gpu", "a b"), NAMED("v.com/g=u", "a"),
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect("a.json", wrong[i], CDI_WRONG_NAME, "'");
	expect("a.json", NAMED("v_1.x-y/g_p-u", "a_b-c.d:e"), CDI_NO_DEFECT, "");
	expect("a.json", TOP("\"annotations\": {\"a..b/c\": \"d\"}"), CDI_WRONG_NAME, "a..b/c");
	expect("a.json", TOP("\"annotations\": {\"a/\": \"d\"}"), CDI_WRONG_NAME, "annotation");
	expect("a.json", TOP("\"annotations\": {\"a.b/C_d\": \"e\"}"), CDI_NO_DEFECT, "");
}

static void test_fields(void)
{
	expect("a.json", SPEC("1.1.0", "\"environment\": []"), CDI_UNKNOWN_FIELD,
	       "devices[0].containerEdits.environment");
	expect("a.json", TOP("\"x\": 1"), CDI_UNKNOWN_FIELD, "x");
	expect("a.json", SPEC("1.1.0", "\"env\": [\"A=b\"], \"env\": []"), CDI_FIELD_TWICE, "env");
	expect("a.json", TOP("\"annotations\": {\"a\": \"b\", \"a\": \"c\"}"), CDI_FIELD_TWICE,
	       "annotations.a: ");
	expect("a.json", "{\"cdiVersion\": \"0.3.0\", \"kind\": \"\"}", CDI_MISSING_FIELD, "kind");
	expect("a.json", DEVICES(""), CDI_MISSING_FIELD, "devices");
	expect("a.json", SPEC("1.1.0", "\"deviceNodes\": [{}]"), CDI_MISSING_FIELD,
	       "deviceNodes[0].path");
	expect("a.json", SPEC("1.1.0", "\"mounts\": [{\"hostPath\": \"/a\"}]"), CDI_MISSING_FIELD,
	       "containerPath");
	expect("a.json", SPEC("1.1.0", "\"env\": \"A=b\""), CDI_WRONG_TYPE, "expected array");
	expect("a.json", SPEC("1.1.0", "\"env\": [5]"), CDI_WRONG_TYPE, "env[0]: expected string");
	expect("a.json", SPEC("1.1.0", "\"env\": [null]"), CDI_WRONG_TYPE, "env[0]");
	expect("a.json", SPEC("1.1.0", "\"additionalGids\": [0.5]"), CDI_WRONG_TYPE, "integer");
	expect("a.json", TOP("\"annotations\": {\"a\": 1}"), CDI_WRONG_TYPE, "annotations.a");
	expect("a.json", "[]", CDI_WRONG_TYPE, "object");
	expect("a.json", DEVICES("5"), CDI_WRONG_TYPE, "devices[0]");
}

static void test_values(void)
{
	expect("a.json", SPEC("1.1.0", "\"env\": [\"=b\"]"), CDI_WRONG_VALUE, "NAME=VALUE");
	expect("a.json", SPEC("1.1.0", "\"env\": [\"A\"]"), CDI_WRONG_VALUE, "env[0]");
	expect("a.json", SPEC("1.1.0", "\"deviceNodes\": [{\"path\": \"/a\", \"type\": \"x\"}]"),
	       CDI_WRONG_VALUE, "type");
	expect("a.json", SPEC("1.1.0", "\"deviceNodes\": [{\"path\": \"/a\", \"major\": -1}]"),
	       CDI_WRONG_VALUE, "major");
	expect("a.json",
	       SPEC("1.1.0", "\"deviceNodes\": [{\"path\": \"/a\", \"permissions\": \"rx\"}]"),
	       CDI_WRONG_VALUE, "'rx'");
	expect("a.json",
	       SPEC("1.1.0", "\"hooks\": [{\"hookName\": \"onStart\", \"path\": \"/a\"}]"),
	       CDI_WRONG_VALUE, "hooks[0].hookName: expected \"prestart\"");
	expect("a.json", SPEC("1.1.0", "\"intelRdt\": {\"closID\": \"..\"}"), CDI_WRONG_VALUE,
	       "closID");
	expect("a.json",
	       SPEC("1.1.0", "\"netDevices\": [{\"hostInterfaceName\": \"a\", \"name\": \"b\"}, "
			     "{\"hostInterfaceName\": \"c\", \"name\": \"b\"}]"),
	       CDI_WRONG_VALUE, "two have the name 'b'");
	expect("a.json", SPEC("1.1.0", ""), CDI_NO_EDITS, "devices[0]");
	expect("a.json", SPEC("1.1.0", "\"env\": [], \"mounts\": null"), CDI_NO_EDITS, "");
	expect("a.json", DEVICES("{\"name\": \"a\"}"), CDI_NO_EDITS, "devices[0]");
	expect("a.json", DEVICES(DEVICE ", " DEVICE), CDI_DEVICE_TWICE, "two have the name 'a'");
}

static void test_limits(void)
{
	struct text text CLEANUP_TEXT = {0};
	text_add(&text, "{\"cdiVersion\": \"0.3.0\", \"kind\": \"v/g\", \"containerEdits\": "
			"{\"env\": [\"A=\"");
	for (size_t i = 0; i < CDI_LIST_MAX; i++)
		text_add(&text, ",\"A=\"");
	text_add(&text, "]}, \"devices\": [" DEVICE "]}");
	expect("a.json", text_string(&text), CDI_TOO_LARGE, "containerEdits.env: more than");
	while (text.size <= CDI_FILE_MAX)
		text_add(&text, "                                ");
	expect("a.json", text_string(&text), CDI_TOO_LARGE, "bytes");
}

/* YAML as nvidia-ctk and people write it: versions and names without quotes, modes in octal. */
#define YAML(version, name)                                                                        \
	"cdiVersion: " version "\nkind: nvidia.com/gpu\ndevices:\n- name: " name                   \
	"\n  containerEdits:\n    deviceNodes:\n    - {path: /dev/nvidia0, fileMode: 0660}\n"

static void test_yaml(void)
{
	expect("a.yaml", YAML("0.5.0", "0"), CDI_NO_DEFECT, "");
	expect("a.yaml", YAML("\"0.5.0\"", "true"), CDI_NO_DEFECT, "");
	expect("a.yaml", YAML("0.3.0", "\"0\""), CDI_VERSION_TOO_LOW, "0.5.0");
	expect("a.yaml", YAML("0.5.0", "~"), CDI_MISSING_FIELD, "devices[0].name");
	expect("a.yaml", YAML("0.5.0", "a\n  name: b"), CDI_FIELD_TWICE, "name");
	expect("a.yaml", YAML("0.5.0", "a") "---\na: b\n", CDI_SYNTAX, "second document");
	expect("a.yaml", YAML("0.5.0", "[a"), CDI_SYNTAX, "line ");
	expect("a.yaml", "", CDI_SYNTAX, "empty");
	expect("a.yaml", "{[a]: b}", CDI_SYNTAX, "key");
	expect("a.yaml", "&a [*a, *a]", CDI_TOO_LARGE, "line 1");
	expect("a.json", YAML("0.5.0", "0"), CDI_SYNTAX, "line 1");
	expect("a.yaml", SPEC("0.3.0", "\"env\": [\"A=b\"]"), CDI_NO_DEFECT, "");
}

static void expect_mode(const char *scalar, double wanted)
{
	char *yaml CLEANUP_FREE = text_format("[%s]", scalar);
	cJSON *json CLEANUP_JSON = NULL;
	UNIT_INT(yaml_to_json(yaml, strlen(yaml), &json, NULL), 0);
	CU_ASSERT_TRUE(cJSON_IsNumber(json_pointer(json, "/0")));
	UNIT_INT((long long)json_pointer_number(json, "/0"), (long long)wanted);
	UNIT_STRING(json->child->valuestring, scalar);
}

static void test_yaml_numbers(void)
{
	expect_mode("0660", 0660);
	expect_mode("0o660", 0660);
	expect_mode("0x1b0", 0x1b0);
	expect_mode("-12", -12);
	expect_mode("1e3", 1000);
}

UNIT_MAIN("CDI specs", {"versions", test_versions}, {"wrong version", test_wrong_version},
	  {"names", test_names}, {"fields", test_fields}, {"values", test_values},
	  {"limits", test_limits}, {"YAML", test_yaml}, {"numbers of YAML", test_yaml_numbers})
