/* SPDX-License-Identifier: MIT */
#include "conformance/checks/prediction.h"

#include "base/gpu_apis.h"
#include "conformance/checks/granted.h"
#include "conformance/runner/context.h"
#include "containers/images/images.h"
#include "reports/view.h"

#include <string.h>

enum { SYMPTOM_MAX = 500 };

static const char kept_file[] = "predictions.ndjson";
static const char *const outcome_names[] = {"worked", "failed", "failed", "stopped",
					    "not-launched"};

void prediction_free(struct prediction *prediction)
{
	compat_answer_free(&prediction->answer);
	*prediction = (struct prediction){0};
}

void prediction_make(struct check_run *run, const struct facts *facts, const char *program,
		     const char *node, const struct grant *grant, struct prediction *out)
{
	const struct gpu_api *api = gpu_api_find(program + strlen("probe-"));
	const struct context *context = check_context(run);
	bool windows = node_is_windows(context->node);
	const struct compat_launch launch = {
		.program = check_format(run, windows ? "%s\\%s.exe" : "%s/%s",
					windows ? IMAGES_WINDOWS_PROGRAM_DIRECTORY
						: IMAGES_PROGRAM_DIRECTORY,
					program),
		.api = api != NULL ? api->name : NULL,
		.grant = grant,
		.node = node,
		.needs_runtime = grant != NULL && granted_needs_runtime(context->node, grant),
		.runtime = facts->runtime,
	};
	*out = (struct prediction){
		.facts = facts, .program = program, .api = launch.api, .node = node};
	for (size_t i = 0; grant != NULL && i < GRANT_KINDS; i++)
		out->devices |= grant->lists[i].count != 0;

	compat_check_launch(&facts->image, facts_contents(facts), &facts->host, &launch,
			    &out->answer);
	out->verdict = compat_answer_verdict(&out->answer);
	for (size_t i = 0; i < out->answer.count && out->verdict != COMPAT_WORKS; i++) {
		if (out->worst == NULL && out->answer.findings[i].verdict == out->verdict)
			out->worst = &out->answer.findings[i];
	}
}

int prediction_agrees(const struct compat_answer *answer, enum prediction_outcome outcome,
		      const char *symptom, const struct compat_finding **wrong)
{
	enum compat_verdict verdict = compat_answer_verdict(answer);
	bool failed = outcome == PREDICTION_FAILED || outcome == PREDICTION_NOT_RUN;
	*wrong = NULL;
	if (failed && verdict == COMPAT_CANNOT_WORK)
		return 1;
	for (size_t i = 0; i < answer->count && *wrong == NULL; i++) {
		const struct compat_finding *finding = &answer->findings[i];
		if ((outcome == PREDICTION_WORKED && finding->verdict == COMPAT_CANNOT_WORK) ||
		    (failed && finding->verdict == COMPAT_WORKS &&
		     compat_rule_shows(finding->rule, outcome == PREDICTION_FAILED, symptom)))
			*wrong = finding;
	}
	if (*wrong != NULL)
		return 0;
	return outcome == PREDICTION_WORKED && verdict == COMPAT_WORKS ? 1 : -1;
}

void prediction_record(struct check_run *run, const struct prediction *prediction,
		       enum prediction_outcome outcome, const char *symptom)
{
	if (prediction->facts == NULL)
		return;
	const struct compat_answer *answer = &prediction->answer;
	const struct compat_finding *wrong = NULL;
	int agrees = prediction_agrees(answer, outcome, symptom, &wrong);
	const struct compat_finding *about = wrong != NULL ? wrong : prediction->worst;
	struct members record CLEANUP_MEMBERS = members_new();
	member_string(&record, "image", prediction->facts->image.reference);
	member_string(&record, "digest", prediction->facts->image.digest);
	member_string(&record, "program", prediction->program);
	member_bool(&record, "devices", prediction->devices);
	member_string(&record, "verdict", compat_verdict_name(prediction->verdict));
	member_string(&record, "rule", about != NULL ? about->rule : NULL);
	member_string(&record, "reason", about != NULL ? about->reason : "");
	member_string(&record, "outcome", outcome_names[outcome]);
	member_cut(&record, "symptom", symptom, SYMPTOM_MAX);
	if (agrees < 0)
		member_null(&record, "agrees");
	else
		member_bool(&record, "agrees", agrees == 1);

	/* Later checks read it with its findings. */
	struct members kept CLEANUP_MEMBERS = {.object = cJSON_Duplicate(record.object, true)};
	member_string(&kept, "api", prediction->api);
	struct members findings = member_array(&kept, "findings");
	items_each (finding, answer->findings, answer->count) {
		struct members json = member_object(&findings, NULL);
		member_string(&json, "rule", finding->rule);
		member_string(&json, "verdict", compat_verdict_name(finding->verdict));
		member_string(&json, "reason", finding->reason);
	}
	struct error err = {0};
	(void)check_works(run, json_append_line(check_run_path(run, kept_file), kept.object, &err),
			  kept_file, &err);
	check_add_record(run, "prediction", &record);
}

void prediction_record_end(struct check_run *run, const struct prediction *prediction,
			   const struct launch_result *result, const cJSON *document)
{
	bool failed = result->end != LAUNCH_EXITED || result->code != 0;
	if (result->end == LAUNCH_STOPPED || (failed && check_row(run)->provokes)) {
		prediction_record(run, prediction, PREDICTION_STOPPED, "");
		return;
	}
	if (result->end == LAUNCH_LOST || result->end == LAUNCH_IGNORED ||
	    result->end == LAUNCH_REFUSED)
		return; /* the image was not tried */
	if (failed) {
		char description[512] = "";
		struct text symptom CLEANUP_TEXT = {0};
		launch_describe(result, description, sizeof(description));
		text_addf(&symptom, "%s%s%s", description, result->err.size != 0 ? "; " : "",
			  text_string(&result->err));
		prediction_record(run, prediction, PREDICTION_NOT_RUN, text_string(&symptom));
		return;
	}
	if (document == NULL)
		return;

	bool worked = false;
	const char *why = "";
	if (prediction->node != NULL) {
		/* The result of opening the node: "ok", "EPERM". */
		why = "the node is not there";
		json_each (entry, json_pointer(document, "/nodes")) {
			if (!text_equal(view_string(entry, "/path"), prediction->node))
				continue;
			why = view_string(entry, "/open/readWrite");
			break;
		}
		worked = text_equal(why, "ok");
	} else {
		why = view_string(document, "/api/reason");
		worked = prediction->api == NULL ||
			 (text_equal(view_string(document, "/api/status"), "ok") &&
			  json_first(json_pointer(document, "/devices")) != NULL);
	}
	prediction_record(run, prediction, worked ? PREDICTION_WORKED : PREDICTION_FAILED,
			  worked ? "" : why);
}

cJSON *predictions_read(struct check_run *run)
{
	cJSON *all CLEANUP_JSON = NULL;
	struct error err = {0};
	return check_works(run, json_read_lines(check_run_path(run, kept_file), &all, &err),
			   kept_file, &err)
		       ? STEAL(all)
		       : NULL;
}
