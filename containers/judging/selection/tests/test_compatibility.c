/* SPDX-License-Identifier: MIT */
/* Compatibility artifacts against hosts: each operator, each kind of feature, what is not known, and what is not a
 * rule. The vectors of operators are those of NFD's documentation (customization-guide, "matchExpressions"). */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "containers/judging/selection/compatibility.h"
#include "containers/judging/selection/selection.h"

#include <string.h>

/* Level 3, a kernel with a module, a graphics card and a network card. */
#define HOST                                                                                         \
	"{\"schema\":\"gpucert-host/1\",\"os\":\"linux\",\"architecture\":\"amd64\",\"cpuLevel\":3," \
	"\"kernel\":\"6.8.0-45-generic\",\"modules\":[\"nvidia\",\"vfio-pci\"],\"pci\":["            \
	"{\"class\":\"0200\",\"vendor\":\"8086\",\"device\":\"1572\"},"                              \
	"{\"class\":\"0302\",\"vendor\":\"10de\",\"device\":\"2335\"}],\"gpus\":["                   \
	"{\"vendor\":\"nvidia\",\"name\":\"NVIDIA H200\",\"driver\":\"nvidia\","                     \
	"\"driverVersion\":\"550.54.15\",\"computeCapability\":\"9.0\"}]}"

/* Nothing but its system. */
#define BARE "{\"schema\":\"gpucert-host/1\",\"os\":\"linux\",\"architecture\":\"amd64\"}"

static int judge(const char *host_file, const char *yaml, struct arena *arena,
		 struct compatibility_answer *out, struct error *err)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct features features CLEANUP_FEATURES = {0};
	cJSON *document CLEANUP_JSON = NULL;
	UNIT_INT(host_facts_parse(host_file, strlen(host_file), &host, err), 0);
	features_of_host(&host, &features);
	int rc = compatibility_parse(yaml, strlen(yaml), &document, err);
	return rc == 0 ? compatibility_judge(document, &features, arena, out, err) : rc;
}

#define RULE(terms)                                                                                \
	"version: v1alpha1\ncompatibilities: [{rules: [{name: a rule, matchFeatures: [" terms      \
	"]}]}]\n"

static void expect(const char *host, const char *yaml, int verdict, const char *reason)
{
	struct arena arena __attribute__((cleanup(arena_free))) = {0};
	struct compatibility_answer answer = {COMPAT_HYPERV, ""};
	struct error err = {0};
	UNIT_INT(judge(host, yaml, &arena, &answer, &err), 0);
	UNIT_STRING(err.text, "");
	if ((int)answer.verdict != verdict)
		(void)printf("\n%s: %s: %s\n", yaml, compat_verdict_name(answer.verdict),
			     answer.reason);
	UNIT_INT(answer.verdict, verdict);
	UNIT_CONTAINS(answer.reason, reason);
}

enum { W = COMPAT_WORKS, U = COMPAT_UNKNOWN, C = COMPAT_CANNOT_WORK };

static void test_operators(void)
{
	static const struct {
		const char *name, *expression;
		int verdict;
	} rows[] = {
		{"major", "{op: Exists}", W},
		{"patch", "{op: Exists}", C},
		{"major", "{op: DoesNotExist}", C},
		{"patch", "{op: DoesNotExist}", W},
		{"major", "{op: In, value: ['5', '6']}", W},
		{"major", "{op: In, value: ['5']}", C},
		{"major", "{op: NotIn, value: ['5']}", W},
		{"major", "{op: NotIn, value: ['5', '6']}", C},
		{"patch", "{op: NotIn, value: ['5']}", C}, /* what is not there is not compared */
		{"minor", "{op: Gt, value: ['7']}", W},
		{"minor", "{op: Gt, value: ['8']}", C},
		{"minor", "{op: Ge, value: ['8']}", W},
		{"minor", "{op: Ge, value: ['9']}", C},
		{"minor", "{op: Lt, value: ['10']}", W}, /* as numbers */
		{"minor", "{op: Lt, value: ['8']}", C},
		{"minor", "{op: Le, value: ['8']}", W},
		{"minor", "{op: Le, value: ['-8']}", C},
		{"minor", "{op: GtLt, value: ['7', '9']}", W},
		{"minor", "{op: GtLt, value: ['8', '9']}", C},
		{"minor", "{op: GeLe, value: ['8', '9']}", W},
		{"minor", "{op: GeLe, value: ['9', '10']}", C},
		{"full", "{op: Gt, value: ['5']}", U}, /* not a number */
		{"major", "{op: IsTrue}", C},
		{"major", "{op: IsFalse}", C},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *yaml CLEANUP_FREE =
			text_format(RULE("{feature: kernel.version, matchExpressions: {%s: %s}}"),
				    rows[i].name, rows[i].expression);
		expect(HOST, yaml, rows[i].verdict, "");
	}
}

#define DRIVER(expression)                                                                         \
	RULE("{feature: local.label, matchExpressions: {gpucert-nvidia.driver: " expression "}}")

static void test_labels(void)
{
	expect(HOST, DRIVER("{op: Ge, value: ['550.54'], type: version}"), W, "all rules match");
	expect(HOST, DRIVER("{op: Gt, value: ['550.54.15'], type: version}"), C,
	       "the rule 'a rule' wants local.label gpucert-nvidia.driver "
	       "{\"op\":\"Gt\",\"value\":[\"550.54.15\"],\"type\":\"version\"}, and the host has "
	       "550.54.15");
	expect(HOST, DRIVER("{op: Gt, value: ['550']}"), U, "the host has 550.54.15");
	expect(BARE, DRIVER("{op: Exists}"), C, "and the host does not have it");
	expect(HOST,
	       RULE("{feature: local.feature, matchExpressions: {gpucert-cpu-level: {op: Ge, value: ['3']}}}"),
	       W, "");
	/* Other files of features may be there. */
	expect(HOST, RULE("{feature: local.label, matchExpressions: {site: {op: Exists}}}"), U,
	       "local.label site {\"op\":\"Exists\"}, and the host does not report it");
}

static void test_processor(void)
{
#define FLAG(name, operation)                                                                      \
	RULE("{feature: CPU.cpuid, matchExpressions: {" name ": {op: " operation "}}}")
	expect(HOST, FLAG("X86_64_V3", "Exists"), W, "");
	expect(HOST, FLAG("AVX2", "Exists"), W, "");
	expect(HOST, FLAG("AVX2", "DoesNotExist"), C, "the host has it");
	expect(HOST, FLAG("X86_64_V4", "Exists"), C, "");
	expect(HOST, FLAG("AVX512F", "Exists"), U, "cpu.cpuid AVX512F"); /* some of v4 have it */
	expect(HOST, FLAG("AVX512F", "DoesNotExist"), U, "");
	expect(BARE, FLAG("X86_64_V1", "Exists"), U, "");
	expect(HOST, RULE("{feature: cpu.cpuid, matchExpressions: {AVX2: {op: In, value: ['1']}}}"),
	       C, "the host has it");
}

static void test_names(void)
{
	expect(HOST, RULE("{feature: cpu.cpuid, matchName: {op: In, value: [AVX2]}}"), W, "");
	expect(HOST, RULE("{feature: cpu.cpuid, matchName: {op: In, value: [AESNI]}}"), U, "");
	expect(HOST, RULE("{feature: kernel.version, matchName: {op: In, value: [patch]}}"), C, "");
	expect(HOST, RULE("{feature: kernel.version, matchName: {op: Exists}}"), W, "");
	expect(HOST, RULE("{feature: kernel.version, matchName: {op: DoesNotExist}}"), C, "");
	expect(HOST, RULE("{feature: pci.device, matchName: {op: In, value: [vendor]}}"), W, "");
	expect(HOST,
	       RULE("{feature: kernel.loadedmodule, matchExpressions: {nvidia: {op: Exists}}, matchName: {op: In, value: [nouveau]}}"),
	       C, "");
}

static void test_instances(void)
{
#define PCI(vendor, class)                                                                         \
	RULE("{feature: pci.device, matchExpressions: {vendor: {op: In, value: ['" vendor          \
	     "']}, class: {op: In, value: ['" class "']}}}")
	expect(HOST, PCI("10de", "0302"), W, "");
	expect(HOST, PCI("10de", "0200"), C, "nothing of the host's fits"); /* of two devices */
	expect(BARE, PCI("10de", "0302"), U, "the host does not report it");
	expect(HOST,
	       RULE("{feature: pci.device, matchExpressions: {vendor: {op: In, value: ['10de']}, sriov_totalvfs: {op: Exists}}}"),
	       U, "sriov_totalvfs");
	expect(HOST, RULE("{feature: pci.device}"), W, "");
	expect(HOST, RULE("{feature: usb.device}"), U, "usb.device");
	expect(HOST,
	       RULE("{feature: kernel.loadedmodule, matchExpressions: {vfio-pci: {op: Exists}}}"),
	       W, "");
	expect(HOST,
	       RULE("{feature: kernel.loadedmodule, matchExpressions: {amdgpu: {op: Exists}}}"), C,
	       "");
	expect(BARE,
	       RULE("{feature: kernel.loadedmodule, matchExpressions: {amdgpu: {op: Exists}}}"), U,
	       "");
}

#define MAJOR(number)                                                                              \
	"{feature: kernel.version, matchExpressions: {major: {op: In, value: ['" number "']}}}"
#define UNKNOWN_FEATURE                                                                            \
	"{feature: system.osrelease, matchExpressions: {ID: {op: In, value: [debian]}}}"
#define MATCHED(name, value)                                                                       \
	"{feature: rule.matched, matchExpressions: {" name ": {op: In, value: [" value "]}}}"
#define SET(tag, rules)	  "{tag: " tag ", weight: 1, rules: [" rules "]}"
#define NAMED(name, rest) "{name: " name ", " rest "}"

static void test_logic(void)
{
	static const char head[] = "version: v1alpha1\ncompatibilities: ";
	static const struct {
		const char *sets;
		int verdict;
		const char *reason;
	} rows[] = {
		/* All terms; a wrong one decides, whatever is not known. */
		{SET("a", NAMED("r", "matchFeatures: [" MAJOR("6") ", " UNKNOWN_FEATURE "]")), U,
		 "system.osrelease"},
		{SET("a", NAMED("r", "matchFeatures: [" UNKNOWN_FEATURE ", " MAJOR("5") "]")), C,
		 "of the set 'a' the rule 'r' wants kernel.version major"},
		/* One of several, and the terms beside them. */
		{SET("a", NAMED("r", "matchAny: [{matchFeatures: [" MAJOR(
					     "5") "]}, {matchFeatures: [" MAJOR("6") "]}]")),
		 W, "of the set 'a' all rules match"},
		{SET("a", NAMED("r", "matchAny: [{matchFeatures: [" MAJOR(
					     "5") "]}, {matchFeatures: [" UNKNOWN_FEATURE "]}]")),
		 U, "osrelease"},
		{SET("a", NAMED("r", "matchAny: [{matchFeatures: [" MAJOR(
					     "5") "]}, {matchFeatures: [" MAJOR("4") "]}]")),
		 C, "the rule 'r' wants what no part of matchAny finds"},
		{SET("a",
		     NAMED("r", "matchFeatures: [" MAJOR(
					"5") "], matchAny: [{matchFeatures: [" MAJOR("6") "]}]")),
		 C, "'r'"},
		/* All rules, whose labels are for others. */
		{SET("a", NAMED("r", "labels: {a: b}, matchFeatures: [" MAJOR("6") "]") ", " NAMED(
				  "s", "matchFeatures: [" MAJOR("5") "]")),
		 C, "the rule 's'"},
		{SET("a", NAMED("r", "vars: {}")), W, ""},
		/* Labels and variables of rules that match, for those behind them, in other sets too. */
		{SET("a", NAMED("r", "labels: {a: b}, matchFeatures: [" MAJOR("6") "]") ", " NAMED(
				  "s", "matchFeatures: [" MATCHED("a", "b") "]")),
		 W, "all rules match"},
		{SET("a", NAMED("r", "vars: {a: b}")) ", " SET(
			 "b", NAMED("s", "vars: {a: c}, matchFeatures: [" MATCHED("a", "c") "]")),
		 W, "of the set 'a'"},
		{SET("a", NAMED("r", "vars: {a: b}") ", " NAMED("s", "vars: {a: c}") ", " NAMED(
				  "t", "matchFeatures: [" MATCHED("a", "b") "]")),
		 C, "rule.matched a {\"op\":\"In\",\"value\":[\"b\"]}, and the host has c"},
		{SET("a", NAMED("r", "vars: {a: b}, matchFeatures: [" MAJOR("5") "]")) ", " SET(
			 "b", NAMED("s", "matchFeatures: [" MATCHED("a", "b") "]")),
		 C, "of the set 'b' the rule 's' wants"},
		{SET("a", NAMED("r", "vars: {a: b}, matchFeatures: [" UNKNOWN_FEATURE
				     "]")) ", " SET("b",
						    NAMED("s", "matchFeatures: [" MATCHED(
								       "a", "b") "]")),
		 U, "of the set 'b' the rule 's' wants rule.matched"},
		{SET("a", NAMED("r", "varsTemplate: 'a={{ .x }}'") ", " NAMED(
				  "s", "matchFeatures: [" MATCHED("a", "b") "]")),
		 U, "rule.matched"},
		/* One of the sets. */
		{SET("preferred", NAMED("r", "matchFeatures: [" MAJOR("7") "]")) ", " SET(
			 "fallback", NAMED("s", "matchFeatures: [" MAJOR("6") "]")),
		 W, "of the set 'fallback'"},
		{SET("preferred", NAMED("r", "matchFeatures: [" MAJOR("7") "]")) ", " SET(
			 "fallback", NAMED("s", "matchFeatures: [" MAJOR("8") "]")),
		 C, "; of the set 'fallback' the rule 's' wants"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *yaml CLEANUP_FREE = text_format("%s[%s]", head, rows[i].sets);
		expect(HOST, yaml, rows[i].verdict, rows[i].reason);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *yaml;
		int code;
		const char *part;
	} rows[] = {
		{"", ERROR_FORMAT, "empty"},
		{"- version", ERROR_FORMAT, "expected object"},
		{"compatibilities: []", ERROR_FORMAT, "version: missing"},
		{"version: v2\ncompatibilities: []", ERROR_UNSUPPORTED, "'v2'"},
		{"version: v1alpha1", ERROR_FORMAT, "compatibilities: missing"},
		{"version: v1alpha1\ncompatibilities: [7]", ERROR_FORMAT,
		 "compatibilities[0]: expected object"},
		{"version: v1alpha1\ncompatibilities: [{tag: a}]", ERROR_FORMAT,
		 "compatibilities[0].rules: missing"},
		{"version: v1alpha1\ncompatibilities: [{rules: [{}]}]", ERROR_FORMAT,
		 "rules[0].name: missing"},
		{RULE("{feature: a, feature: b}"), ERROR_FORMAT,
		 "matchFeatures[0].feature: appears twice"},
		{RULE("{feature: a, matchExpressions: {b: {op: Exists}, b: {op: Exists}}}"),
		 ERROR_FORMAT, "b: appears twice"},
		{RULE("{}"), ERROR_FORMAT, "matchFeatures[0].feature: missing"},
		{RULE("{feature: a, matchExpressions: [a]}"), ERROR_FORMAT,
		 "matchExpressions: expected object"},
		{RULE("{feature: a, matchExpressions: {b: {op: Is}}}"), ERROR_FORMAT,
		 "matchExpressions.b: 'Is' is not an operator"},
		{RULE("{feature: a, matchExpressions: {b: {op: In}}}"), ERROR_FORMAT,
		 "0 values, which In does not take"},
		{RULE("{feature: a, matchExpressions: {b: {op: Exists, value: [c]}}}"),
		 ERROR_FORMAT, "1 values, which Exists"},
		{RULE("{feature: a, matchExpressions: {b: {op: GtLt, value: ['1']}}}"),
		 ERROR_FORMAT, "1 values, which GtLt"},
		{RULE("{feature: a, matchExpressions: {b: {op: GtLt, value: ['2', '1']}}}"),
		 ERROR_FORMAT, "the first is not less"},
		{RULE("{feature: a, matchExpressions: {b: {op: Gt, value: [x]}}}"), ERROR_FORMAT,
		 "value[0]: expected an integer"},
		{RULE("{feature: a, matchExpressions: {b: {op: Gt, value: [1.x], type: version}}}"),
		 ERROR_FORMAT, "expected a version"},
		{RULE("{feature: a, matchExpressions: {b: {op: In, value: ['1'], type: version}}}"),
		 ERROR_FORMAT, "is not a type of In"},
		{RULE("{feature: a, matchExpressions: {b: {op: In, value: [10]}}}"), ERROR_FORMAT,
		 "value[0]: expected a string"},
		{"version: v1alpha1\ncompatibilities: [{rules: [{name: r, labels: {a: 1}}]}]",
		 ERROR_FORMAT, "labels.a: expected a string"},
		/* The wrong rule counts also where one before it decides. */
		{RULE(MAJOR(
			 "5") ", {feature: kernel.version, matchExpressions: {major: {op: Is}}}"),
		 ERROR_FORMAT, "'Is' is not"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct arena arena __attribute__((cleanup(arena_free))) = {0};
		struct compatibility_answer answer = {0};
		struct error err = {0};
		UNIT_INT(judge(HOST, rows[i].yaml, &arena, &answer, &err), rows[i].code);
		UNIT_CONTAINS(err.text, rows[i].part);
	}
}

/* Aliases make much out of little. */
static void test_bounds(void)
{
	struct arena arena __attribute__((cleanup(arena_free))) = {0};
	struct compatibility_answer answer = {0};
	struct error err = {0};
	struct text yaml CLEANUP_TEXT = {0};
	text_add(
		&yaml,
		"version: v1alpha1\nx: &x {feature: pci.device, matchExpressions: {vendor: {op: In, value: [a]}}}\n"
		"y: &y [*x, *x, *x, *x, *x, *x, *x, *x, *x, *x, *x, *x]\n"
		"compatibilities: [{rules: [");
	for (int i = 0; i < 1000; i++)
		text_add(&yaml, "{name: r, matchFeatures: *y},");
	text_add(&yaml, "]}]\n");
	UNIT_INT(judge(HOST, text_string(&yaml), &arena, &answer, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "comparisons");
	text_reset(&yaml);
	err = (struct error){0};
	text_add(&yaml, "version: v1alpha1\nx: &x ");
	for (int i = 0; i < 3000; i++)
		text_add(&yaml, "abcdefgh");
	text_add(&yaml, "\ny: [");
	for (int i = 0; i < 1000; i++)
		text_add(&yaml, "*x, ");
	text_add(&yaml, "]\n");
	UNIT_INT(judge(HOST, text_string(&yaml), &arena, &answer, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "too much text");
	text_reset(&yaml);
	err = (struct error){0};
	text_add(&yaml, "version: v1alpha1\n");
	for (int i = 0; i < COMPATIBILITY_KEYS_MAX; i++)
		text_addf(&yaml, "a%d:\n", i);
	UNIT_INT(judge(HOST, text_string(&yaml), &arena, &answer, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "more than 1000 keys");
	text_reset(&yaml);
	err = (struct error){0};
	while (yaml.size <= COMPATIBILITY_MAX)
		text_add(&yaml, "# nothing\n");
	UNIT_INT(judge(HOST, text_string(&yaml), &arena, &answer, &err), ERROR_LIMIT);
}

/* The artifact decides between images that are otherwise alike, and what cannot be read is not good. */
static void test_selection(void)
{
	static const char images[] =
		"{\"schema\":\"gpucert-catalogue/1\",\"images\":["
		"{\"reference\":\"a\",\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}},"
		"{\"reference\":\"b\",\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}},"
		"{\"reference\":\"c\",\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}}]}";
	static const struct compat_options options = {0};
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct catalogue catalogue CLEANUP_CATALOGUE = {0};
	struct selection selection CLEANUP_SELECTION = {0};
	struct error err = {0};
	UNIT_INT(host_facts_parse(HOST, strlen(HOST), &host, &err), 0);
	UNIT_INT(catalogue_parse(images, strlen(images), &catalogue, &err), 0);
	UNIT_NEED(catalogue.count == 3);
	const char *wrong = RULE(MAJOR("5"));
	UNIT_INT(compatibility_parse(wrong, strlen(wrong), &catalogue.entries[0].compatibility,
				     &err),
		 0);
	catalogue.entries[0].artifact = "sha256:1234";
	catalogue.entries[1].not_read = "status 500";
	selection_make(&catalogue, &host, &options, &selection);
	UNIT_STRING(selection.items[0].entry->reference, "c");
	UNIT_INT(selection.items[0].verdict, COMPAT_WORKS);
	UNIT_STRING(selection.items[1].entry->reference, "b");
	UNIT_INT(selection.items[1].verdict, COMPAT_UNKNOWN);
	UNIT_STRING(selection.items[1].reason,
		    "its compatibility artifact cannot be read: status 500");
	UNIT_STRING(selection.items[2].finding.rule, "nfd.compatibility");
	UNIT_INT(selection.items[2].verdict, COMPAT_CANNOT_WORK);
	UNIT_CONTAINS(selection.items[2].reason, "the rule 'a rule' wants kernel.version major");
	UNIT_CONTAINS(selection.items[2].reason, "sha256:1234");
}

UNIT_MAIN("compatibility", {"operators", test_operators}, {"labels", test_labels},
	  {"processor", test_processor}, {"names", test_names}, {"instances", test_instances},
	  {"logic", test_logic}, {"refused", test_refused}, {"bounds", test_bounds},
	  {"selection", test_selection})
