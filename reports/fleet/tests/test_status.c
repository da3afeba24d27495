/* SPDX-License-Identifier: MIT */

/* Pods as the states of nodes. */

#include "base/tests/unit.h"
#include "reports/fleet/fleet.h"

#include "base/json.h"

#define META(pod, node, created)                                                                   \
	"\"metadata\": {\"name\": \"" pod "\", \"creationTimestamp\": \"" created                  \
	"\", \"annotations\": {\"gpucert.internal/node\": \"" node "\"}}"
#define LIST(items) "{\"kind\": \"List\", \"items\": [" items "]}"

struct pod {
	const char *name, *node, *created;
	const char *phase; /* NULL: it has ended */
	const char *code, *message;
	const char *exit_code,
		*verdict; /* the message is a verdict: its exit code, and more members */
};

static void add_pod(struct text *out, const struct pod *pod)
{
	struct text message CLEANUP_TEXT = {0};
	text_add(&message, pod->message != NULL ? pod->message : "");
	if (pod->exit_code != NULL)
		text_addf(&message, "{\"schema\": \"gpucert-verdict/1\", \"exitCode\": %s%s%s}\n",
			  pod->exit_code, pod->verdict[0] != '\0' ? ", " : "", pod->verdict);
	cJSON *string CLEANUP_JSON = cJSON_CreateString(text_string(&message));
	char *quoted CLEANUP_FREE = json_print_compact(string);
	text_addf(
		out,
		"%s{\"metadata\": {\"name\": \"%s\", \"creationTimestamp\": \"%s\", "
		"\"annotations\": {\"gpucert.internal/node\": \"%s\"}}, \"status\": {\"phase\": \"%s\"",
		out->size > 0 ? ", " : "", pod->name, pod->created, pod->node,
		pod->phase != NULL ? pod->phase : "Failed");
	if (pod->phase == NULL)
		text_addf(out,
			  ", \"containerStatuses\": [{\"state\": {\"terminated\": "
			  "{\"exitCode\": %s, \"message\": %s}}}]",
			  pod->code, quoted);
	text_add(out, "}}");
}

static int status_of(const char *pods, const char *jobs, struct text *out, struct error *err)
{
	cJSON *of_pods CLEANUP_JSON = NULL;
	cJSON *of_jobs CLEANUP_JSON = NULL;
	UNIT_INT(json_parse(pods, strlen(pods), &of_pods, NULL), 0);
	if (jobs != NULL)
		UNIT_INT(json_parse(jobs, strlen(jobs), &of_jobs, NULL), 0);
	return fleet_status_add(of_pods, of_jobs, out, err);
}

static void expect_status(const struct pod *pods, size_t count, const char *jobs,
			  const char *wanted)
{
	struct text items CLEANUP_TEXT = {0};
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	for (size_t i = 0; i < count; i++)
		add_pod(&items, &pods[i]);
	char *list CLEANUP_FREE = text_format(LIST("%s"), text_string(&items));
	UNIT_INT(status_of(list, jobs, &out, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(text_string(&out), wanted);
}

#define CONFORMANT "\"result\": \"conformant\""
#define VIOLATED   "\"result\": \"violated\""

static void test_states(void)
{
	static const struct pod pods[] = {
		{"p1", "a", "2", .code = "0", .exit_code = "0", .verdict = CONFORMANT},
		{"p2", "b", "2", .code = "1", .exit_code = "1",
		 .verdict = VIOLATED ", \"failed\": [\"s.x\"]"},
		{"p3", "c", "2", .code = "4", .exit_code = "4",
		 .verdict = "\"result\": \"incomplete\""},
		{"p4", "d", "2", .code = "137"},
		{"p5", "e", "2", .code = "0", .message = "all is well"},
		{"p6", "f", "2", .code = "1", .exit_code = "0", .verdict = CONFORMANT},
		{"p7", "g", "2", .phase = "Running"},
		{"p8", "h", "2", .phase = "Pending"},
		{"p9", "i", "2", .phase = "Failed"},
		/* The one that was created last counts, wherever it is in the list. */
		{"p10", "b", "1", .code = "0", .exit_code = "0", .verdict = ""},
		{"p11", "c", "3", .code = "1", .exit_code = "1", .verdict = VIOLATED},
	};
	expect_status(pods, ARRAY_SIZE(pods),
		      LIST("{" META("j", "a", "") "}, {" META("j", "z", "") "}"),
		      "10 nodes: 1 passed, 1 missing, 1 pending, 1 running, 4 lost, 2 failed\n"
		      "failed  b: violated s.x\n"
		      "failed  c: violated\n"
		      "lost    d: exit code 137, and no verdict of it\n"
		      "lost    e: exit code 0, and no verdict of it\n"
		      "lost    f: exit code 1, and no verdict of it\n"
		      "lost    i: the pod ended without a container\n"
		      "running g\n"
		      "pending h\n"
		      "missing z\n"
		      "passed  a: conformant\n");
}

/* The verdict of a run counts whatever became of the push. */
static void test_pushes(void)
{
	static const struct pod pods[] = {
		{"p1", "a", "1", .code = "0", .exit_code = "0",
		 .verdict = CONFORMANT ", \"pushed\": \"x\""},
		{"p2", "b", "1", .code = "1", .exit_code = "1",
		 .verdict = VIOLATED ", \"notPushed\": \"status 507\""},
		{"p3", "c", "1", .code = "137", .exit_code = "0",
		 .verdict = CONFORMANT ", \"notPushed\": \"not yet\""},
		{"p4", "d", "1", .code = "137", .exit_code = "0", .verdict = CONFORMANT},
		{"p5", "e", "1", .code = "1", .exit_code = "0",
		 .verdict = CONFORMANT ", \"notPushed\": \"not yet\""},
	};
	expect_status(
		pods, ARRAY_SIZE(pods), NULL,
		"5 nodes: 2 passed, 0 missing, 0 pending, 0 running, 2 lost, 1 failed; 2 reports "
		"not pushed\n"
		"failed  b: violated; report not pushed: status 507\n"
		"lost    d: exit code 137, and no verdict of it\n"
		"lost    e: exit code 1, and no verdict of it\n"
		"passed  a: conformant\n"
		"passed  c: conformant; report not pushed: not yet (the container ended with "
		"137)\n");
}

/* A pod that finds the report of its plan does not run again. */
static void test_runs_of_earlier_pods(void)
{
	static const struct pod pods[] = {
		{"p1", "a", "2026-11-29T10:00:00Z", .code = "0", .exit_code = "0",
		 .verdict = CONFORMANT ", \"started\": \"2026-11-29T10:00:00.250Z\""},
		{"p2", "b", "2026-11-29T10:00:00Z", .code = "0", .exit_code = "0",
		 .verdict = CONFORMANT ", \"started\": \"2026-11-28T09:59:59.999Z\""},
	};
	expect_status(pods, ARRAY_SIZE(pods), NULL,
		      "2 nodes: 2 passed, 0 missing, 0 pending, 0 running, 0 lost, 0 failed\n"
		      "passed  a: conformant\n"
		      "passed  b: conformant; the run of an earlier pod "
		      "(2026-11-28T09:59:59.999Z)\n");
}

static void test_bad_lists(void)
{
	static const struct {
		const char *pods, *jobs, *error;
	} rows[] = {
		{"{}", NULL, "items: missing"},
		{LIST("{" META("p", "A", "1") "}"), NULL, "items[0]: metadata.annotations."},
		{LIST("{\"metadata\": {\"annotations\": {\"gpucert.internal/node\": 7}}}"), NULL,
		 "items[0]: metadata.annotations."},
		{LIST("{" META("p", "a", "1") ", \"spec\": {\"nodeName\": \"b\"}}"), NULL,
		 "items[0]: spec.nodeName: 'b', but the pod is for 'a'"},
		{LIST(""), LIST("{}"), "plan: items[0]: not a Job of gpucert fleet plan"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text out CLEANUP_TEXT = {0};
		struct error err = {0};
		UNIT_INT(status_of(rows[i].pods, rows[i].jobs, &out, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, rows[i].error);
	}
}

UNIT_MAIN("fleet status", {"states of nodes", test_states},
	  {"reports that are not pushed", test_pushes},
	  {"runs of earlier pods", test_runs_of_earlier_pods},
	  {"bad lists are refused with their place", test_bad_lists})
