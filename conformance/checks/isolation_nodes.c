/* SPDX-License-Identifier: MIT */
/* The device nodes that a container has, those that it can make, and what the kernel lets it do with
 * them and with all others. */
#include "conformance/checks/isolation.h"

#include "conformance/checks/tally.h"
#include "reports/view.h"

#include <string.h>

/* A refusal that no driver makes. */
static bool is_refused(const char *result)
{
	return text_equal(result, "EPERM") || text_equal(result, "EACCES");
}

/* What the program found at the nodes of its devices, and made of others. */
static void expect_attempts(struct looked *looked)
{
	TALLY(made, looked->run, looked_label(looked, "device nodes"), "cannot be made");
	TALLY(opened, looked->run, looked_label(looked, "granted nodes"), "can be opened");
	json_each (node, json_pointer(looked->document, "/nodes")) {
		const char *result = json_pointer_string(node, "/open/readOnly");
		if (result != NULL)
			tally_add(&opened,
				  !is_refused(result) ||
					  !is_refused(json_pointer_string(node, "/open/readWrite")),
				  "%s (%s): %s", json_pointer_string(node, "/path"),
				  json_pointer_string(node, "/kind"), result);
	}
	json_each (node, json_pointer(looked->tried, "/nodes"))
		tally_add(&made, !text_equal(json_pointer_string(node, "/make"), "ok"),
			  "made in %s, open: %s", json_pointer_string(node, "/folder"),
			  view_string(node, "/open"));
}

/* What the program found at nodes that were made for it; NULL: none were, or they are of no use there,
 * which /dev/null shows. */
static const cJSON *planted_nodes(struct looked *looked)
{
	static const struct node_number null = {"character", "1:3", 1, 3};
	const char *untold = json_pointer_string(looked->container, "/plantedUntold");
	const cJSON *nodes = json_pointer(looked->tried, "/planted");
	const cJSON *control = node_number_find(nodes, &null);
	bool whole = cJSON_GetArraySize(nodes) ==
		     (int)json_pointer_number(looked->container, "/planted");
	if (whole && text_equal(json_pointer_string(control, "/read"), "ok"))
		return nodes;
	check_unsupported(looked->run, "%s: nodes that it was not given cannot be tried in it: %s",
			  looked->label,
			  untold != NULL ? untold
			  : whole	 ? "its own /dev/null cannot be used there"
					 : "not all that were made are there");
	return NULL;
}

static void expect_others_refused(struct looked *looked)
{
	const char *what = looked_label(looked, "other nodes, tried in the container");
	TALLY(tally, looked->run, what, "refused");
	json_each (node, planted_nodes(looked)) {
		const char *read = json_pointer_string(node, "/read");
		const char *write = json_pointer_string(node, "/write");
		struct node_number number = {0};
		if (node_number_read(node, &number) && !container_may_have(&looked->one, &number))
			tally_add(&tally, is_refused(read) && is_refused(write),
				  "%s %s: read %s, write %s", number.type, number.text, read,
				  write);
	}
}

/* What keeps the list, which is no verdict. */
static void note_cgroups(const struct looked *looked)
{
	json_each (group, json_pointer(looked->container, "/deviceCgroups")) {
		const char *untold = json_pointer_string(group, "/untold");
		int programs = cJSON_GetArraySize(json_pointer(group, "/programs"));
		if (untold != NULL)
			check_note(looked->run, "%s: device cgroup: %s", looked->label, untold);
		else if (programs != 0)
			check_note(
				looked->run,
				"%s: device cgroup of version 2, %d eBPF program%s, the first of "
				"%.0f instructions",
				looked->label, programs, programs == 1 ? "" : "s",
				json_pointer_number(group, "/programs/0/instructions"));
	}
}

static size_t judge_nodes(struct looked *looked)
{
	struct container_findings findings CLEANUP_CONTAINER_FINDINGS = {0};
	struct error err = {0};
	if (!check_works(looked->run, container_judge(&looked->one, &findings, &err), looked->label,
			 &err))
		return 0;
	container_record(looked->run, looked->label, CONTAINER_NODES, &findings);
	expect_attempts(looked);
	expect_others_refused(looked);
	if (looked->sight == looked->bare)
		note_cgroups(looked);
	return 1;
}

/* The letters of all nodes of the answer with this number: of one device several may be handed out. */
static void add_letters(const struct looked *looked, const struct node_number *number,
			char letters[3])
{
	size_t count = 0;
	for (const char *letter = "rw"; *letter != '\0'; letter++) {
		json_each (node, json_pointer(looked->container, "/granted")) {
			const char *given = json_pointer_string(node, "/access");
			struct node_number other = {0};
			if (count < 2 && node_number_read(node, &other) && given != NULL &&
			    strcmp(other.text, number->text) == 0 &&
			    strcmp(other.type, number->type) == 0 &&
			    strchr(given, *letter) != NULL) {
				letters[count++] = *letter;
				break;
			}
		}
	}
}

/* Read and write, as letters. */
static const char *tried_letters(const cJSON *node)
{
	bool read = !is_refused(json_pointer_string(node, "/read"));
	bool write = !is_refused(json_pointer_string(node, "/write"));
	return read ? (write ? "rw" : "r") : (write ? "w" : "");
}

static void expect_letters(struct tally *tally, const struct node_number *number,
			   const char *wanted, const char *saw)
{
	tally_add(tally, strcmp(saw, wanted) == 0, "%s %s: '%s', granted '%s'", number->type,
		  number->text, saw, wanted);
}

/* Each container has it, whatever an answer says. */
static bool is_for_all(const struct looked *looked, const struct node_number *number)
{
	return node_number_is_default(number) ||
	       node_number_find(json_pointer(looked->bare, "/container/usable"), number) != NULL;
}

static size_t judge_access(struct looked *looked)
{
	TALLY(asked, looked->run, looked_label(looked, "granted nodes, by its cgroup"),
	      "the access that the answer gives");
	TALLY(tried, looked->run, looked_label(looked, "granted nodes, tried in the container"),
	      "the access that the answer gives");
	const cJSON *granted = json_pointer(looked->container, "/granted");
	const cJSON *planted = cJSON_GetArraySize(granted) != 0 ? planted_nodes(looked) : NULL;
	size_t judged = 0;
	json_each (node, granted) {
		struct node_number number = {0};
		char letters[3] = "";
		if (!node_number_read(node, &number) || is_for_all(looked, &number))
			continue;
		const cJSON *in_container = node_number_find(planted, &number);
		const char *outside = json_pointer_string(node, "/allowed");
		add_letters(looked, &number, letters);
		if (outside != NULL)
			expect_letters(&asked, &number, letters, outside);
		if (in_container != NULL)
			expect_letters(&tried, &number, letters, tried_letters(in_container));
		judged += outside != NULL || in_container != NULL;
	}
	return judged;
}

const struct sight_judge isolation_device_nodes = {judge_nodes, NULL, true},
			 isolation_device_access = {
				 judge_access,
				 "no answer hands out a device node that other containers lack",
				 true};
