/* SPDX-License-Identifier: MIT */
/* The device nodes that a container has, those that it can make, and the access to them, and to all others,
 * that the kernel allows. */
#include "conformance/checks/isolation.h"

#include "conformance/checks/tally.h"
#include "reports/view.h"

#include <string.h>

/* The kernel's refusal; drivers fail with other errors. */
static bool is_refused(const char *result)
{
	return text_equal(result, "EPERM") || text_equal(result, "EACCES");
}

/* The results for nodes that were made for the probe to try; NULL: recorded, because none were made,
 * or /dev/null shows that they cannot be used there. */
static const cJSON *planted_nodes(struct inspected *inspected)
{
	static const struct node_number null = {"character", "1:3", 1, 3};
	const cJSON *nodes = json_pointer(inspected->tried, "/planted");
	const cJSON *control = node_number_find(nodes, &null);
	bool whole = cJSON_GetArraySize(nodes) ==
		     (int)json_pointer_number(inspected->container, "/planted");
	if (whole && text_equal(json_pointer_string(control, "/read"), "ok"))
		return nodes;

	const char *reason = json_pointer_string(inspected->container, "/plantedUnknown");
	if (reason == NULL)
		reason = whole ? "its own /dev/null cannot be used there"
			       : "some of those that were made are missing";
	check_unsupported(inspected->run,
			  "%s: nodes that it was not granted cannot be tried in it: %s",
			  inspected->label, reason);
	return NULL;
}

static size_t judge_nodes(struct inspected *inspected)
{
	struct container_findings findings CLEANUP_CONTAINER_FINDINGS = {0};
	container_judge(&inspected->one, &findings);
	container_record(inspected->run, inspected->label, CONTAINER_NODES, &findings);

	TALLY(refused, inspected->run,
	      inspected_label(inspected, "other nodes, tried in the container"), "refused");
	TALLY(made, inspected->run, inspected_label(inspected, "device nodes"), "cannot be made");
	TALLY(opened, inspected->run, inspected_label(inspected, "granted nodes"), "can be opened");
	json_each (node, json_pointer(inspected->document, "/nodes")) {
		const char *result = json_pointer_string(node, "/open/readOnly");
		if (result != NULL)
			tally_add(&opened,
				  !is_refused(result) ||
					  !is_refused(json_pointer_string(node, "/open/readWrite")),
				  "%s (%s): %s", json_pointer_string(node, "/path"),
				  json_pointer_string(node, "/kind"), result);
	}
	json_each (node, json_pointer(inspected->tried, "/nodes"))
		tally_add(&made, !text_equal(json_pointer_string(node, "/make"), "ok"),
			  "made in %s, open: %s", json_pointer_string(node, "/folder"),
			  view_string(node, "/open"));
	json_each (node, planted_nodes(inspected)) {
		const char *read = json_pointer_string(node, "/read");
		const char *write = json_pointer_string(node, "/write");
		struct node_number number = {0};
		if (node_number_read(node, &number) &&
		    !container_may_have(&inspected->one, &number))
			tally_add(&refused, is_refused(read) && is_refused(write),
				  "%s %s: read %s, write %s", number.type, number.text, read,
				  write);
	}
	if (inspected->observation != inspected->bare)
		return 1;

	/* How the device cgroup enforces its list is not judged. */
	json_each (group, json_pointer(inspected->container, "/deviceCgroups")) {
		const char *unknown = json_pointer_string(group, "/unknown");
		int programs = cJSON_GetArraySize(json_pointer(group, "/programs"));
		if (unknown != NULL)
			check_note(inspected->run, "%s: device cgroup: %s", inspected->label,
				   unknown);
		else if (programs != 0)
			check_note(
				inspected->run,
				"%s: device cgroup of version 2, %d eBPF program%s, the first of "
				"%.0f instructions",
				inspected->label, programs, programs == 1 ? "" : "s",
				json_pointer_number(group, "/programs/0/instructions"));
	}
	return 1;
}

/* The permissions of all nodes of the answer with this number: it may grant several for one device. */
static void add_letters(const struct inspected *inspected, const struct node_number *number,
			char letters[3])
{
	size_t count = 0;
	for (const char *letter = "rw"; *letter != '\0'; letter++) {
		json_each (node, json_pointer(inspected->container, "/granted")) {
			const char *given = json_pointer_string(node, "/access");
			struct node_number other = {0};
			if (node_number_read(node, &other) && given != NULL &&
			    strcmp(other.text, number->text) == 0 &&
			    strcmp(other.type, number->type) == 0 &&
			    strchr(given, *letter) != NULL) {
				letters[count++] = *letter;
				break;
			}
		}
	}
}

static void expect_letters(struct tally *tally, const struct node_number *number,
			   const char *wanted, const char *saw)
{
	tally_add(tally, strcmp(saw, wanted) == 0, "%s %s: '%s', granted '%s'", number->type,
		  number->text, saw, wanted);
}

static size_t judge_access(struct inspected *inspected)
{
	TALLY(asked, inspected->run, inspected_label(inspected, "granted nodes, by its cgroup"),
	      "the access that the answer gives");
	TALLY(tried, inspected->run,
	      inspected_label(inspected, "granted nodes, tried in the container"),
	      "the access that the answer gives");
	const cJSON *granted = json_pointer(inspected->container, "/granted");
	const cJSON *planted = cJSON_GetArraySize(granted) != 0 ? planted_nodes(inspected) : NULL;
	const cJSON *usable_by_all = json_pointer(inspected->bare, "/container/usable");
	size_t judged = 0;
	json_each (node, granted) {
		struct node_number number = {0};
		if (!node_number_read(node, &number) || node_number_is_default(&number) ||
		    node_number_find(usable_by_all, &number) != NULL)
			continue;
		char letters[3] = "";
		add_letters(inspected, &number, letters);
		const char *outside = json_pointer_string(node, "/allowed");
		if (outside != NULL)
			expect_letters(&asked, &number, letters, outside);
		const cJSON *in_container = node_number_find(planted, &number);
		if (in_container != NULL) {
			bool read = !is_refused(json_pointer_string(in_container, "/read"));
			bool write = !is_refused(json_pointer_string(in_container, "/write"));
			expect_letters(&tried, &number, letters,
				       check_format(inspected->run, "%s%s", read ? "r" : "",
						    write ? "w" : ""));
		}
		judged += outside != NULL || in_container != NULL;
	}
	return judged;
}

const struct observation_judge
	isolation_device_nodes = {judge_nodes, NULL, true},
	isolation_device_access = {
		judge_access, "no answer hands out a device node that other containers lack", true};
