/* SPDX-License-Identifier: MIT */
#include "workloads/common/work.h"

#include <stdio.h>

static const char *const status_names[] = {
	[WORK_OK] = "ok",	  [WORK_ENCODED] = "encoded",	[WORK_WRONG] = "wrong",
	[WORK_FAILED] = "failed", [WORK_TIMED_OUT] = "timeout", [WORK_UNSUPPORTED] = "unsupported",
};

static const char *const stage_names[WORK_STAGE_COUNT] = {
	[WORK_STAGE_SELECT] = "select",	    [WORK_STAGE_DEVICE] = "device",
	[WORK_STAGE_BUILD] = "build",	    [WORK_STAGE_MEMORY] = "memory",
	[WORK_STAGE_LOOK] = "look",	    [WORK_STAGE_UPLOAD] = "upload",
	[WORK_STAGE_DISPATCH] = "dispatch", [WORK_STAGE_DOWNLOAD] = "download",
	[WORK_STAGE_RENDER] = "render",	    [WORK_STAGE_VERIFY] = "verify",
};

const char *work_status_name(enum work_status status)
{
	return status_names[status];
}

static cJSON *failure_json(const struct call_failure *failure)
{
	struct members error CLEANUP_MEMBERS = members_new();
	if (failure->call == NULL)
		return cJSON_CreateNull();
	member_string(&error, "call", failure->call);
	member_number(&error, "code", (double)failure->code);
	member_string(&error, "name", failure->code_name);
	return members_take(&error);
}

static cJSON *first_mismatch_json(const struct work_comparison *comparison, bool picture)
{
	struct members first CLEANUP_MEMBERS = members_new();
	if (comparison->mismatches == 0)
		return cJSON_CreateNull();
	if (picture) {
		member_number(&first, "x", (double)(comparison->index % RENDER_SIZE));
		member_int(&first, "y", (int64_t)(comparison->index / RENDER_SIZE));
	} else {
		member_string(&first, "array", comparison->array);
		member_number(&first, "index", (double)comparison->index);
		member_bool(&first, "guard", comparison->guard);
	}
	member_string(&first, "expected", comparison->expected);
	member_string(&first, "actual", comparison->actual);
	return members_take(&first);
}

static cJSON *timings_json(const struct work_report *report)
{
	struct members timings CLEANUP_MEMBERS = members_new();
	for (size_t i = WORK_STAGE_DEVICE; i < WORK_STAGE_COUNT; i++) {
		char name[32] = "";
		(void)snprintf(name, sizeof(name), "%sMs", stage_names[i]);
		if (i == WORK_STAGE_LOOK && report->stage_ns[i] == 0)
			continue;
		if (report->stage_ns[i] == 0)
			member_null(&timings, name);
		else
			member_milliseconds(&timings, name, report->stage_ns[i]);
	}
	return members_take(&timings);
}

/* Of what was read back. */
static cJSON *digests_json(const struct work_report *report)
{
	struct members digests CLEANUP_MEMBERS = members_new();
	for (size_t i = 0; i < report->digest_count; i++)
		member_string(&digests, report->digests[i].array, report->digests[i].digest);
	return members_take(&digests);
}

static cJSON *residue_json(const struct work_residue *residue)
{
	struct members members CLEANUP_MEMBERS = members_new();
	member_number(&members, "seed", residue->seed);
	member_number(&members, "bytes", (double)residue->bytes);
	member_number(&members, "found", (double)residue->found);
	if (residue->found == 0)
		member_null(&members, "first");
	else
		member_number(&members, "first", (double)residue->first);
	return members_take(&members);
}

static cJSON *rounds_json(const struct work_rounds *rounds)
{
	struct members members CLEANUP_MEMBERS = members_new();
	member_number(&members, "count", (double)rounds->count);
	member_milliseconds(&members, "meanMs", rounds->sum_ns / rounds->count);
	member_milliseconds(&members, "worstMs", rounds->worst_ns);
	member_milliseconds(&members, "firstEndMs", rounds->first_end_ns);
	member_milliseconds(&members, "lastEndMs", rounds->last_end_ns);
	return members_take(&members);
}

static cJSON *render_json(const struct work_comparison *render)
{
	struct members members CLEANUP_MEMBERS = members_new();
	if (!render->done)
		return cJSON_CreateNull();
	member_number(&members, "pixels", RENDER_SIZE * RENDER_SIZE);
	member_number(&members, "mismatches", (double)render->mismatches);
	member_item(&members, "firstMismatch", first_mismatch_json(render, true));
	return members_take(&members);
}

cJSON *work_report_json(const struct work_report *report)
{
	struct members work CLEANUP_MEMBERS = members_new();
	member_number(&work, "device", (double)report->device);
	member_string(&work, "status", status_names[report->status]);
	member_bool(&work, "verified", report->status == WORK_OK);
	member_string(&work, "stage", stage_names[report->stage]);
	member_optional(&work, "reason", report->reason);
	member_item(&work, "error", failure_json(&report->failure));
	member_string(&work, "buildLog", report->build_log);
	member_number(&work, "elements", (double)report->elements);
	member_number(&work, "seed", report->seed);
	if (report->feature_level[0] != '\0')
		member_string(&work, "featureLevel", report->feature_level);
	if (report->shader_model[0] != '\0')
		member_string(&work, "shaderModel", report->shader_model);
	member_number(&work, "mismatches", (double)report->results.mismatches);
	member_item(&work, "firstMismatch", first_mismatch_json(&report->results, false));
	member_item(&work, "digests", digests_json(report));
	member_item(&work, "render", render_json(&report->render));
	if (report->video != NULL)
		member_copy(&work, "video", report->video);
	if (report->measured != NULL)
		member_copy(&work, "measured", report->measured);
	if (report->residue.looked)
		member_item(&work, "residue", residue_json(&report->residue));
	if (report->rounds.count != 0)
		member_item(&work, "rounds", rounds_json(&report->rounds));
	if (report->memory_free != 0)
		member_number(&work, "memoryFreeBytes", (double)report->memory_free);
	member_item(&work, "timings", timings_json(report));
	return members_take(&work);
}
