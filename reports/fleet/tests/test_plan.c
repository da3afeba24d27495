/* SPDX-License-Identifier: MIT */

/* Lists of nodes as Jobs. */

#include "base/tests/unit.h"
#include "reports/fleet/fleet.h"

#include "base/file.h"

#define DIGEST "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NODES  GPUCERT_BINARY_DIR "/tests/fleet-nodes.json"

#define READY "\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}"
#define NODE(name, label, rest)                                                                    \
	"{\"kind\": \"Node\", \"metadata\": {\"name\": \"" name                                    \
	"\", \"labels\": {\"kubernetes.io/hostname\": \"" label "\", \"gpu\": \"yes\"}}, " rest    \
	"}"
#define LIST(items) "{\"kind\": \"List\", \"items\": [" items "]}"

static const struct text_list nothing = {0};

static struct fleet_plan options(void)
{
	return (struct fleet_plan){.name = "f",
				   .image = "registry.example/gpucert" DIGEST,
				   .name_space = "gpucert",
				   .folder = "/var/lib/gpucert",
				   .max_unavailable = "50%",
				   .arguments = &nothing,
				   .wave = 1,
				   .retries = 1,
				   .deadline_s = 60};
}

static int read_list(const char *json, cJSON **out, struct error *err)
{
	CU_ASSERT_EQUAL(file_write_atomic(NODES, json, strlen(json), 0644, NULL), 0);
	return fleet_list_read(NODES, "Node", out, err);
}

static int plan(const char *json, const struct fleet_plan *with, struct fleet_wave *wave,
		struct error *err)
{
	cJSON *nodes CLEANUP_JSON = NULL;
	int rc = read_list(json, &nodes, err);
	return rc < 0 ? rc : fleet_plan_make(nodes, with, wave, err);
}

/* The Jobs of the wave; NULL after a failure. Caller owns them. */
static cJSON *jobs_of(const char *json, const struct fleet_plan *with)
{
	struct fleet_wave wave CLEANUP_FLEET_WAVE = {0};
	struct error err = {0};
	cJSON *jobs = NULL;
	UNIT_INT(plan(json, with, &wave, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(json_parse(text_string(&wave.jobs), wave.jobs.size, &jobs, NULL), 0);
	return jobs;
}

static const char three[] = LIST(
	NODE("a", "a", READY) "," NODE("b", "b", READY) "," NODE("c.example.internal", "c", READY));

static void test_job(void)
{
	struct fleet_plan with = options();
	struct text_list arguments CLEANUP_TEXT_LIST = {0};
	struct text_list tolerations CLEANUP_TEXT_LIST = {0};
	text_list_add(&arguments, "--require-conformant");
	text_list_add(&tolerations, "nvidia.com/gpu");
	with.arguments = &arguments;
	with.tolerations = tolerations;
	with.runtime_class = "nvidia";
	cJSON *jobs CLEANUP_JSON = jobs_of(LIST(NODE("a.b", "host-a", READY)), &with);
	const struct {
		const char *pointer, *value;
	} texts[] = {
		{"/kind", "List"},
		{"/items/0/kind", "Job"},
		{"/items/0/metadata/namespace", "gpucert"},
		{"/items/0/metadata/labels/gpucert.internal~1fleet", "f"},
		{"/items/0/metadata/labels/gpucert.internal~1wave", "1"},
		{"/items/0/spec/template/metadata/annotations/gpucert.internal~1node", "a.b"},
		{"/items/0/spec/template/spec/nodeSelector/kubernetes.io~1hostname", "host-a"},
		{"/items/0/spec/template/spec/hostname", "a"},
		{"/items/0/spec/template/spec/restartPolicy", "Never"},
		{"/items/0/spec/template/spec/runtimeClassName", "nvidia"},
		{"/items/0/spec/template/spec/tolerations/0/key", "nvidia.com/gpu"},
		{"/items/0/spec/template/spec/tolerations/0/operator", "Exists"},
		{"/items/0/spec/template/spec/containers/0/args/0", "--require-conformant"},
		{"/items/0/spec/template/spec/volumes/0/hostPath/path", "/var/lib/gpucert/f"},
		{"/items/0/spec/podFailurePolicy/rules/1/onExitCodes/operator", "NotIn"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		UNIT_STRING(json_pointer_string(jobs, texts[i].pointer), texts[i].value);
	CU_ASSERT_TRUE(
		text_starts_with(json_pointer_string(jobs, "/items/0/metadata/name"), "f-a-b-"));

	with.retries = 0;
	cJSON *old CLEANUP_JSON = jobs_of(three, &with);
	CU_ASSERT_PTR_NULL(json_pointer(old, "/items/0/spec/podFailurePolicy"));
	UNIT_INT((int)json_pointer_number(old, "/items/0/spec/backoffLimit"), 0);
}

/* All waves together have each node once, whatever the order of the list. */
static void test_waves(void)
{
	struct fleet_plan with = options();
	struct text_list names CLEANUP_TEXT_LIST = {0};
	with.max_unavailable = "1";
	for (with.wave = 1; with.wave <= 3; with.wave++) {
		cJSON *jobs CLEANUP_JSON = jobs_of(three, &with);
		cJSON *again CLEANUP_JSON =
			jobs_of(LIST(NODE("c.example.internal", "c", READY) "," NODE(
					"b", "b", READY) "," NODE("a", "a", READY)),
				&with);
		CU_ASSERT_TRUE(cJSON_Compare(jobs, again, true));
		UNIT_INT(cJSON_GetArraySize(json_pointer(jobs, "/items")), 1);
		text_list_add(
			&names,
			json_pointer_string(
				jobs, "/items/0/metadata/annotations/gpucert.internal~1node"));
	}
	text_list_sort(&names);
	UNIT_INT((int)names.count, 3);
	UNIT_STRING(names.items[0], "a");
	UNIT_STRING(names.items[1], "b");
	UNIT_STRING(names.items[2], "c.example.internal");

	struct fleet_wave wave CLEANUP_FLEET_WAVE = {0};
	struct error err = {0};
	UNIT_INT(plan(three, &with, &wave, &err), ERROR_ARGUMENT);
	UNIT_STRING(err.text, "--wave: got 4, the last wave is 3");
}

static void test_left_out(void)
{
	struct fleet_plan with = options();
	struct fleet_wave wave CLEANUP_FLEET_WAVE = {0};
	struct text_list selectors CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	static const char *const lines[] = {
		"b: unschedulable",
		"c: not ready",
		"d: not ready",
		"e: taint gpu:NoSchedule (see --toleration)",
		"g: Windows: use share/gpucert/deploy/node (docs/deployment.md)",
		"h: has no label kubernetes.io/hostname"};
	text_list_add(&selectors, "gpu=yes");
	with.selectors = selectors;
	UNIT_INT(
		plan(LIST(NODE("a", "a", READY) "," NODE("b", "b", "\"spec\": {\"unschedulable\": true}, " READY) "," NODE(
			     "c", "c",
			     "\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": "
			     "\"Unknown\"}]}") "," NODE("d", "d",
							"\"status\": "
							"7") "," NODE("e", "e",
								      "\"spec\": "
								      "{\"taints\": "
								      "[{\"key\": \"gpu\", "
								      "\"effect\": "
								      "\"NoSchedule\"}]}"
								      ", " READY) ","
										  "{\"metadata\": {\"name\": \"f\"}},"
										  "{\"metadata\": {\"name\": \"g\", \"labels\": {\"gpu\": \"yes\", "
										  "\"kubernetes.io/os\": \"windows\"}}},"
										  "{\"metadata\": {\"name\": \"h\", \"labels\": {\"gpu\": \"yes\"}}, " READY
										  "}"),
		     &with, &wave, &err),
		0);
	UNIT_STRING(err.text, "");
	UNIT_INT((int)wave.planned, 1);
	UNIT_INT((int)wave.left_out.count, (int)ARRAY_SIZE(lines));
	for (size_t i = 0; i < ARRAY_SIZE(lines) && i < wave.left_out.count; i++)
		UNIT_STRING(wave.left_out.items[i], lines[i]);
}

static void test_bad_lists(void)
{
	static const struct {
		const char *json, *error;
	} rows[] = {
		{"", "not valid JSON"},
		{"[]", "expected object"},
		{"{\"kind\": \"Pod\"}", "kind: expected List"},
		{"{\"kind\": \"List\"}", "items: missing, expected array"},
		{LIST("7"), "items[0]: expected object"},
		{LIST("{\"kind\": \"Pod\"}"), "items[0]: kind: expected Node, got 'Pod'"},
		{LIST("{}"), "items[0].metadata: missing"},
		{LIST("{\"metadata\": {\"name\": 7}}"), "items[0].metadata.name: expected string"},
		{LIST(NODE("a", "a", READY) "," NODE("a", "b", READY)),
		 "items[1]: metadata.name: 'a' is that of items[0], too"},
		{LIST(NODE("a", "x", READY) "," NODE("b", "x", READY)),
		 "items[1]: metadata.labels.kubernetes.io/hostname: 'x' is that of items[0], too"},
		{LIST(NODE("../etc", "a", READY)), "'../etc' is not a DNS subdomain"},
		{LIST(NODE("A", "a", READY)), "'A' is not a DNS subdomain"},
		{LIST(NODE("a..b", "a", READY)), "is not a DNS subdomain"},
		{LIST(NODE("a-", "a", READY)), "is not a DNS subdomain"},
		{LIST(NODE("a b", "a", READY)), "is not a DNS subdomain"},
		{LIST(NODE("", "a", READY)), "is not a DNS subdomain"},
		{LIST(NODE("a", "$(reboot)", READY)), "'$(reboot)' is not a DNS subdomain"},
		{LIST(NODE("a", "a", READY "")) "x", "line 1"},
		{LIST("{\"metadata\": {\"images\": [1, \n7"), "line 2"},
		{LIST("{\"metadata\": {}, \"metadata\": {}}"), "items[0].metadata: appears twice"},
	};
	const struct fleet_plan with = options();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fleet_wave wave CLEANUP_FLEET_WAVE = {0};
		struct error err = {0};
		UNIT_INT(plan(rows[i].json, &with, &wave, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, rows[i].error);
	}
}

static void test_bad_options(void)
{
	char long_name[] = "abcdefghijklmnopqrstu";
	const struct {
		struct fleet_plan with;
		const char *error;
	} rows[] = {
		{{.image = "registry.example/gpucert:1"}, "--image: expected NAME@sha256:DIGEST"},
		{{.image = "x@sha256:12"}, "--image: expected NAME@sha256:DIGEST"},
		{{.image = DIGEST}, "--image: not the name of an image"},
		{{.image = "a b" DIGEST}, "--image: not the name of an image"},
		{{.name = "A"}, "--name: expected"},
		{{.name = "a.b"}, "--name: expected"},
		{{.name = long_name}, "--name: longer than 20"},
		{{.name_space = "x/y"}, "--namespace: expected"},
		{{.folder = "here"}, "--folder: expected an absolute path"},
		{{.folder = "/a/../b"}, "--folder: expected an absolute path"},
		{{.max_unavailable = "0"}, "--max-unavailable: expected"},
		{{.max_unavailable = "101%"}, "--max-unavailable: expected"},
		{{.max_unavailable = "-1"}, "--max-unavailable: expected"},
		{{.max_unavailable = "%"}, "--max-unavailable: expected"},
		{{.max_unavailable = ""}, "--max-unavailable: expected"},
		{{.runtime_class = "a b"}, "--runtime-class: expected"},
		{{.push_secret = "a"}, "--push is missing"},
		{{.plain_http = true}, "--push is missing"},
		{{.push = "https://a/{node}", .push_secret = "a b"}, "--push-secret: expected"},
		{{.push = "https://a:b@c/{node}"},
		 "--push: credentials go into a Secret (--push-secret)"},
		{{.push = "https://a/node"}, "--push: expected a URL with one {node}"},
		{{.push = "https://a/{node}/{node}"}, "--push: expected a URL with one {node}"},
		{{.push = "https://a/{node}\n"}, "--push: expected a URL with one {node}"},
		{{.push = "https://a/{node}\""}, "--push: expected a URL with one {node}"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fleet_wave wave CLEANUP_FLEET_WAVE = {0};
		struct fleet_plan with = options();
		struct error err = {0};
		const struct fleet_plan *row = &rows[i].with;
		with.image = row->image != NULL ? row->image : with.image;
		with.name = row->name != NULL ? row->name : with.name;
		with.name_space = row->name_space != NULL ? row->name_space : with.name_space;
		with.folder = row->folder != NULL ? row->folder : with.folder;
		with.max_unavailable =
			row->max_unavailable != NULL ? row->max_unavailable : with.max_unavailable;
		with.runtime_class = row->runtime_class;
		with.push = row->push;
		with.push_secret = row->push_secret;
		with.plain_http = row->plain_http;
		UNIT_INT(plan(three, &with, &wave, &err), ERROR_ARGUMENT);
		UNIT_CONTAINS(err.text, rows[i].error);
	}
}

/* Names of Jobs are labels, too: 63 bytes, none twice. */
static void test_names(void)
{
	char name[254] = "";
	for (size_t i = 0; i < sizeof(name) - 1; i++)
		name[i] = i % 2 == 0 ? 'a' : '.';
	CU_ASSERT_TRUE(fleet_is_subdomain(name));
	char *json CLEANUP_FREE = text_format(
		"{\"kind\": \"NodeList\", \"items\": [{\"metadata\": {\"name\": \"%s\", \"labels\": "
		"{\"kubernetes.io/hostname\": \"a\"}}, " READY "}]}",
		name);
	struct fleet_plan with = options();
	with.name = "abcdefghijklmnopqrst";
	cJSON *jobs CLEANUP_JSON = jobs_of(json, &with);
	const char *of = json_pointer_string(jobs, "/items/0/metadata/name");
	CU_ASSERT_TRUE(of != NULL && strlen(of) <= 63 && fleet_is_subdomain(of));
}

static int refuse_long(const char *place, struct error *err)
{
	return strlen(place) > 40 ? error_set(err, ERROR_ARGUMENT, "%s: too long", place) : 0;
}

/* Each report has its own place; the longest name decides whether all are places. */
static void test_places(void)
{
	struct fleet_plan with = options();
	struct fleet_wave wave CLEANUP_FLEET_WAVE = {0};
	struct error err = {0};
	with.push = "https://reports.example/{node}/r";
	with.check_place = refuse_long;
	with.plain_http = true;
	cJSON *jobs CLEANUP_JSON = jobs_of(LIST(NODE("a.b", "a", READY)), &with);
	char *printed CLEANUP_FREE = json_print_compact(jobs);
	UNIT_CONTAINS(printed,
		      "{\"name\":\"FLEET_PUSH\",\"value\":\"https://reports.example/a.b/r\"}");
	UNIT_CONTAINS(printed, "\"--within 15 --plain-http\"");
	CU_ASSERT_PTR_NULL(strstr(printed, "secretName"));
	CU_ASSERT_PTR_NULL(strstr(printed, "pod-resources"));
	UNIT_INT(plan(three, &with, &wave, &err), ERROR_ARGUMENT);
	UNIT_STRING(err.text, "--push: https://reports.example/c.example.internal/r: too long");
}

/* Whatever a report holds, Kubernetes keeps the whole line. */
static void test_verdict(void)
{
	struct text json CLEANUP_TEXT = {0};
	struct text line CLEANUP_TEXT = {0};
	cJSON *report CLEANUP_JSON = NULL;
	cJSON *verdict CLEANUP_JSON = NULL;
	text_add(
		&json,
		"{\"run\": {\"state\": \"complete\"}, \"environment\": {\"plugin\": {\"name\": \"");
	for (size_t i = 0; i < 5000; i++)
		text_add(&json, "\\u202e");
	text_add(&json, "\"}}, \"checks\": [");
	for (size_t i = 0; i < 1000; i++) {
		text_addf(&json, "%s{\"outcome\": \"fail\", \"id\": \"", i > 0 ? ", " : "");
		for (size_t k = 0; k < 50; k++)
			text_add(&json, "\\u202e");
		text_add(&json, "\"}");
	}
	text_add(&json, "]}");
	UNIT_INT(json_parse(text_string(&json), json.size, &report, NULL), 0);
	const struct fleet_push push = {.why = text_string(&json)};
	fleet_verdict_add(report, 1, "", &push, &line);
	CU_ASSERT_TRUE(line.size <= FLEET_VERDICT_MAX);
	UNIT_INT(json_parse(text_string(&line), line.size, &verdict, NULL), 0);
	UNIT_STRING(json_pointer_string(verdict, "/state"), "complete");
	UNIT_INT((int)json_pointer_number(verdict, "/exitCode"), 1);
	UNIT_CONTAINS(json_pointer_string(verdict, "/notPushed"), "run");
}

UNIT_MAIN("fleet plan", {"a Job for each node", test_job},
	  {"waves have each node once", test_waves}, {"nodes that are left out", test_left_out},
	  {"bad lists are refused with their place", test_bad_lists},
	  {"bad options are refused", test_bad_options}, {"names of Jobs", test_names},
	  {"places of reports", test_places},
	  {"a verdict fits the termination message", test_verdict})
