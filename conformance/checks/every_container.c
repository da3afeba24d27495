/* SPDX-License-Identifier: MIT */
#include "conformance/checks/every_container.h"

#include "base/file.h"
#include "conformance/checks/isolation.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"

static const char kept_file[] = "containers.ndjson";

static const char *bare_path(struct check_run *run, const char *handler)
{
	return check_run_path(run,
			      check_format(run, "bare-%s.json", handler != NULL ? handler : ""));
}

bool every_container_has_bare(struct check_run *run, const char *handler)
{
	return file_exists(bare_path(run, handler));
}

static int keep_line(struct check_run *run, const char *label,
		     const struct container_findings *findings, struct error *err)
{
	const struct text_list *const lists[] = {&findings->nodes, &findings->mounts,
						 &findings->privileges};
	struct members line CLEANUP_MEMBERS = members_new();
	member_string(&line, "check", check_row(run)->id);
	member_string(&line, "label", label);
	struct members wrong = member_array(&line, "findings");
	array_each (list, lists) {
		text_each (finding, *list)
			member_string(&wrong, NULL, finding);
	}
	member_item(&line, "open", json_new_strings(&findings->open));

	return json_append_line(check_run_path(run, kept_file), line.object, err);
}

void every_container_judge(struct check_run *run, const char *label, const char *handler,
			   const struct grant *grant, const struct container_view *view)
{
	const struct context *context = check_context(run);
	const bool is_bare = grant == NULL;
	const char *path = bare_path(run, handler);
	cJSON *container CLEANUP_JSON = container_json(view, handler, grant);
	cJSON *bare CLEANUP_JSON = NULL;
	struct host_places *places CLEANUP_HOST_PLACES = host_places_new(context);
	struct container_findings findings CLEANUP_CONTAINER_FINDINGS = {0};
	struct error err = {0};
	int rc = 0;
	if (is_bare && !file_exists(path))
		rc = json_write_file(path, container, &err);
	else if (!is_bare && file_exists(path))
		rc = json_read_file(path, &bare, &err);
	const struct container_case one = {
		.context = context,
		.container = container,
		.bare = is_bare ? container : bare,
		.places = places,
		.needs_runtime = !is_bare && granted_needs_runtime(context->node, grant),
	};
	if (rc == 0) {
		container_judge(&one, &findings);
		rc = keep_line(run, label, &findings, &err);
	}
	if (!check_works(run, rc, label, &err))
		return;

	const char *what = check_format(run, "container of %s", label);
	size_t count = findings.nodes.count + findings.mounts.count + findings.privileges.count;
	if (count == 0 && findings.open.count == 0) {
		(void)check_expect_is(run, true, what,
				      "nothing of the node but what it was granted", "");
		return;
	}
	check_evidence_json(run, check_format(run, "%s.container.json", label), container);
	if (check_row(run)->run == isolation_each_observation)
		return; /* its own judge decides, by the same rules */
	if (is_bare)
		check_note(run, "%s: %zu findings, for which isolation.every-container fails", what,
			   count);
	else
		container_record(run, what, count != 0 ? CONTAINER_NODES | CONTAINER_REACH : 0,
				 &findings);
}

void isolation_every_container(struct check_run *run)
{
	TALLY(tally, run, "every container of this run",
	      "nothing of the node but what it was granted");
	cJSON *all CLEANUP_JSON = NULL;
	struct error err = {0};
	int rc = json_read_lines(check_run_path(run, kept_file), &all, &err);
	json_each (json, all) {
		const char *check = json_pointer_string(json, "/check");
		const char *label = json_pointer_string(json, "/label");
		const cJSON *first = json_first(json_pointer(json, "/findings"));
		tally_add(&tally, first == NULL, "%s: %s: %s", check, label,
			  cJSON_GetStringValue(first));
		json_each (open, json_pointer(json, "/open"))
			check_unsupported(run, "%s: %s: %s", check, label,
					  cJSON_GetStringValue(open));
	}
	if (check_works(run, rc, kept_file, &err) && tally.count == 0)
		check_unsupported(run, "no container of this run was looked into from the host");
}
