/* SPDX-License-Identifier: MIT */
/* The manifests of the DirectX plugins say what the programs and Windows nodes understand. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "reference-plugin/configuration/settings.h"
#include "reference-plugin/programs.h"

#include <string.h>
#include <yaml.h>

#define DEPLOY GPUCERT_SOURCE_DIR "/reference-plugin/deploy/"

static void release(yaml_document_t *document)
{
	yaml_document_delete(document);
}

/* The `index`th document of a file; the test ends when there is none. */
static void load(const char *path, int index, yaml_document_t *out)
{
	char *data CLEANUP_FREE = NULL;
	yaml_parser_t parser CLEANUP(yaml_parser_delete) = {0};
	size_t size = 0;
	UNIT_INT(file_read(path, 65536, &data, &size, NULL), 0);
	CU_ASSERT_TRUE_FATAL(data != NULL && yaml_parser_initialize(&parser));
	yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
	CU_ASSERT_TRUE_FATAL(yaml_parser_load(&parser, out));
	for (int i = 0; i < index; i++) {
		yaml_document_delete(out);
		CU_ASSERT_TRUE_FATAL(yaml_parser_load(&parser, out));
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(yaml_document_get_root_node(out));
}

static const char *scalar(const yaml_node_t *node)
{
	return node != NULL && node->type == YAML_SCALAR_NODE
		       ? (const char *)node->data.scalar.value
		       : "";
}

static yaml_node_t *member(yaml_document_t *document, const yaml_node_t *node, const char *key)
{
	if (node == NULL || node->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		if (strcmp(scalar(yaml_document_get_node(document, pair->key)), key) == 0)
			return yaml_document_get_node(document, pair->value);
	}
	return NULL;
}

/* "spec/template/spec" from the root; a number is an element of a list. */
static yaml_node_t *at(yaml_document_t *document, const char *path)
{
	struct text_list steps CLEANUP_TEXT_LIST = {0};
	yaml_node_t *node = yaml_document_get_root_node(document);
	text_list_split(&steps, path, '/');
	for (size_t i = 0; i < steps.count && node != NULL; i++) {
		const yaml_node_item_t *item = node->data.sequence.items.start;
		if (node->type == YAML_SEQUENCE_NODE)
			node = yaml_document_get_node(document,
						      item[strtoul(steps.items[i], NULL, 10)]);
		else
			node = member(document, node, steps.items[i]);
	}
	return node;
}

static void expect(yaml_document_t *document, const char *path, const char *wanted)
{
	UNIT_STRING(scalar(at(document, path)), wanted);
}

/* The variables are those of settings. */
static void expect_variables(yaml_document_t *document, const struct config_program *program)
{
	const yaml_node_t *variables = at(document, "spec/template/spec/containers/0/env");
	char *file CLEANUP_FREE = text_format("%sCONFIG_FILE", program->env_prefix);
	CU_ASSERT_PTR_NOT_NULL_FATAL(variables);
	if (variables == NULL)
		return;
	for (const yaml_node_item_t *item = variables->data.sequence.items.start;
	     item < variables->data.sequence.items.top; item++) {
		const char *name =
			scalar(member(document, yaml_document_get_node(document, *item), "name"));
		bool known = strcmp(name, file) == 0;
		for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
			struct text variable CLEANUP_TEXT = {0};
			setting_add_variable(&settings[i], program->env_prefix, &variable);
			known = known || (setting_is_for(&settings[i], program) &&
					  strcmp(text_string(&variable), name) == 0);
		}
		if (!known)
			UNIT_STRING(name, "the variable of a setting");
	}
}

static void expect_daemonset(int index, const struct config_program *program)
{
	yaml_document_t document CLEANUP(release);
	char *command CLEANUP_FREE =
		text_format("%%CONTAINER_SANDBOX_MOUNT_POINT%%\\%s.exe", program->name);
	load(DEPLOY "chart/base/windows/daemonsets.yaml", index, &document);
	expect(&document, "kind", "DaemonSet");
	expect(&document, "metadata/name", program->name);
	expect(&document, "spec/template/spec/hostNetwork", "true");
	expect(&document, "spec/template/spec/securityContext/windowsOptions/hostProcess", "true");
	expect(&document, "spec/template/spec/securityContext/windowsOptions/runAsUserName",
	       "NT AUTHORITY\\SYSTEM");
	UNIT_STRING(scalar(member(&document, at(&document, "spec/template/spec/nodeSelector"),
				  "kubernetes.io/os")),
		    "windows");
	expect(&document, "spec/template/spec/containers/0/command/0", command);
	expect_variables(&document, program);
}

static void expect_builds(int index)
{
	static const char terms[] =
		"spec/template/spec/affinity/nodeAffinity/"
		"requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/"
		"matchExpressions/0";
	yaml_document_t document CLEANUP(release);
	yaml_node_t *term = NULL;
	load(DEPLOY "chart/base/windows/daemonsets.yaml", index, &document);
	term = at(&document, terms);
	UNIT_STRING(scalar(member(&document, term, "key")), "node.kubernetes.io/windows-build");
	UNIT_STRING(scalar(member(&document, term, "operator")), "In");
	term = member(&document, term, "values");
	CU_ASSERT_PTR_NOT_NULL_FATAL(term);
	if (term == NULL)
		return;
	UNIT_INT(term->data.sequence.items.top - term->data.sequence.items.start, 2);
	UNIT_STRING(scalar(yaml_document_get_node(&document, term->data.sequence.items.start[0])),
		    "10.0.20348");
	UNIT_STRING(scalar(yaml_document_get_node(&document, term->data.sequence.items.start[1])),
		    "10.0.26100");
}

static void test_daemonsets(void)
{
	expect_daemonset(1, &program_wddm);
	expect_daemonset(2, &program_mcdm);
	expect_builds(1);
	expect_builds(2);
}

static void expect_configuration(yaml_document_t *document, const char *name,
				 const struct config_program *program)
{
	struct config config CLEANUP(config_free) = {.program = program};
	const char *yaml = scalar(member(document, at(document, "data"), name));
	struct error err = {0};
	CU_ASSERT_TRUE(yaml[0] != '\0');
	UNIT_INT(config_parse_yaml(name, yaml, strlen(yaml), &config, &err), 0);
	UNIT_STRING(err.text, "");
}

static void test_configmap(void)
{
	yaml_document_t document CLEANUP(release);
	load(DEPLOY "chart/base/windows/daemonsets.yaml", 0, &document);
	expect(&document, "kind", "ConfigMap");
	expect_configuration(&document, "wddm.yaml", &program_wddm);
	expect_configuration(&document, "mcdm.yaml", &program_mcdm);
}

static void test_example_pod(void)
{
	yaml_document_t document CLEANUP(release);
	yaml_node_t *limits = NULL;
	load(DEPLOY "directx-example-pod.yaml", 0, &document);
	limits = at(&document, "spec/containers/0/resources/limits");
	UNIT_STRING(scalar(member(&document, limits, program_wddm.display_name)), "1");
}

UNIT_MAIN("deploy", {"DaemonSets", test_daemonsets}, {"ConfigMap", test_configmap},
	  {"example pod", test_example_pod})
