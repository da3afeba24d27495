/* SPDX-License-Identifier: MIT */

/* Pods as the states of nodes. */

#include "base/tests/unit.h"
#include "reports/fleet/fleet.h"

#include "base/json.h"

#define META(pod, node, created)                                                                   \
	"\"metadata\": {\"name\": \"" pod "\", \"creationTimestamp\": \"" created                  \
	"\", \"annotations\": {\"gpucert.internal/node\": \"" node "\"}}"
#define ENDED(code, message)                                                                        \
	"\"status\": {\"phase\": \"Failed\", \"containerStatuses\": [{\"state\": {\"terminated\": " \
	"{\"exitCode\": " code ", \"message\": \"" message "\"}}}]}"
#define VERDICT(code, rest)                                                                        \
	"{\\\"schema\\\": \\\"gpucert-verdict/1\\\", \\\"exitCode\\\": " code ", " rest "}\\n"
#define LIST(items) "{\"kind\": \"List\", \"items\": [" items "]}"

static int status_of(const char *pods, const char *jobs, struct text *out, struct error *err)
{
	cJSON *of_pods CLEANUP_JSON = NULL;
	cJSON *of_jobs CLEANUP_JSON = NULL;
	UNIT_INT(json_parse(pods, strlen(pods), &of_pods, NULL), 0);
	if (jobs != NULL)
		UNIT_INT(json_parse(jobs, strlen(jobs), &of_jobs, NULL), 0);
	return fleet_status_add(of_pods, of_jobs, out, err);
}

static void test_states(void)
{
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(status_of(LIST("{" META("p1",
					 "a", "2") ", " ENDED("0", VERDICT("0", "\\\"result\\\": \\\"conformant\\\"")) "}, "
														       "{" META("p2", "b", "2") ", " ENDED("1", VERDICT("1", "\\\"result\\\": \\\"violated\\\", \\\"failed\\\": "
																					     "[\\\"s.x\\\"]")) "}, "
																							       "{" META("p3", "c", "2") ", " ENDED("4", VERDICT("4", "\\\"result\\\": \\\"incomplete\\\"")) "}, "
																																			    "{" META("p4", "d", "2") ", " ENDED(
																																				    "137", "") "}, "
																																					       "{" META(
																																						       "p5",
																																						       "e", "2") ", " ENDED("0", "all is well") "}, "
																																												"{" META("p6", "f", "2") ", " ENDED("1",
																																																    VERDICT("0",
																																																	    "\\\"result\\\": \\\"conformant\\\"")) "}, "
																																																						   "{" META("p7", "g",
																																																							    "2") ", \"status\": {\"phase\": \"Running\"}}, "
																																																								 "{" META(
																																																									 "p8",
																																																									 "h",
																																																									 "2") ", \"status\": {\"phase\": \"Pending\"}}, "
																																																									      "{" META("p9",
																																																										       "i",
																																																										       "2") ", \"status\": {\"phase\": \"Failed\"}}, "
																																																											    "{\"metadata\": {\"name\": \"other\"}}, "
																																																											    /* The one that was created last counts, wherever it is in the list. */
																																																											    "{" META("p10",
																																																												     "b", "1") ", " ENDED("0", VERDICT("0", "")) "}, "
																																																																		 "{" META(
																																																																			 "p11",
																																																																			 "c",
																																																																			 "3") ", " ENDED("1", VERDICT("1",
																																																																						      "\\\"result\\\": \\\"violated\\\"")) "}"),
			   LIST("{" META("j", "a", "") "}, {" META("j", "z", "") "}"), &out, &err),
		 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(text_string(&out),
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
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(
		status_of(
			LIST("{" META("p1", "a", "1") ", " ENDED(
				"0",
				VERDICT("0",
					"\\\"result\\\": \\\"conformant\\\", "
					"\\\"pushed\\\": \\\"x\\\"")) "}, "
								      "{" META("p2", "b", "1") ", " ENDED(
									      "1",
									      VERDICT("1",
										      "\\\"result\\\": \\\"violated\\\", "
										      "\\\"notPushed\\\": \\\"status 507\\\"")) "}, "
																"{" META(
																	"p3",
																	"c",
																	"1") ", " ENDED("137", VERDICT("0", "\\\"result\\\": \\\"conformant\\\", "
																					    "\\\"notPushed\\\": \\\"not yet\\\"")) "}, "
																										   "{" META("p4", "d", "1") ", " ENDED("137", VERDICT("0", "\\\"result\\\": \\\"conformant\\\"")) "}, "
																																						  "{" META(
																																							  "p5", "e", "1") ", " ENDED("1",
																																										     VERDICT("0",
																																											     "\\\"result\\\": \\\"conformant\\\", "
																																											     "\\\"notPushed\\\": \\\"not yet\\\"")) "}"),
			NULL, &out, &err),
		0);
	UNIT_STRING(
		text_string(&out),
		"5 nodes: 2 passed, 0 missing, 0 pending, 0 running, 2 lost, 1 failed; 2 reports "
		"not pushed\n"
		"failed  b: violated; report not pushed: status 507\n"
		"lost    d: exit code 137, and no verdict of it\n"
		"lost    e: exit code 1, and no verdict of it\n"
		"passed  a: conformant\n"
		"passed  c: conformant; report not pushed: not yet (the container ended with "
		"137)\n");
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
	  {"bad lists are refused with their place", test_bad_lists})
