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

/* The members of work for checks of neighbours. */
static void add_neighbours(struct members *work, const struct work_report *report)
{
	const struct work_residue *residue = &report->residue;
	const struct work_rounds *rounds = &report->rounds;

	if (residue->looked) {
		struct members members = member_object(work, "residue");
		member_number(&members, "seed", residue->seed);
		member_number(&members, "bytes", (double)residue->bytes);
		member_number(&members, "found", (double)residue->found);
		if (residue->found == 0)
			member_null(&members, "first");
		else
			member_number(&members, "first", (double)residue->first);
	}
	if (rounds->count != 0) {
		struct members members = member_object(work, "rounds");
		member_number(&members, "count", (double)rounds->count);
		member_milliseconds(&members, "meanMs", rounds->sum_ns / rounds->count);
		member_milliseconds(&members, "worstMs", rounds->worst_ns);
		member_milliseconds(&members, "firstEndMs", rounds->first_end_ns);
		member_milliseconds(&members, "lastEndMs", rounds->last_end_ns);
	}
}

cJSON *work_report_json(const struct work_report *report)
{
	struct members work CLEANUP_MEMBERS = members_new();

	member_number(&work, "device", (double)report->device);
	member_string(&work, "status", status_names[report->status]);
	member_bool(&work, "verified", report->status == WORK_OK);
	member_string(&work, "stage", stage_names[report->stage]);
	member_optional(&work, "reason", report->reason);
	if (report->failure.call != NULL) {
		struct members error = member_object(&work, "error");
		member_string(&error, "call", report->failure.call);
		member_number(&error, "code", (double)report->failure.code);
		member_string(&error, "name", report->failure.code_name);
	} else {
		member_null(&work, "error");
	}
	member_string(&work, "buildLog", report->build_log);
	member_number(&work, "elements", (double)report->elements);
	member_number(&work, "seed", report->seed);
	if (report->feature_level[0] != '\0')
		member_string(&work, "featureLevel", report->feature_level);
	if (report->shader_model[0] != '\0')
		member_string(&work, "shaderModel", report->shader_model);

	member_number(&work, "mismatches", (double)report->results.mismatches);
	member_item(&work, "firstMismatch", first_mismatch_json(&report->results, false));
	struct members digests = member_object(&work, "digests");
	for (size_t i = 0; i < report->digest_count; i++)
		member_string(&digests, report->digests[i].array, report->digests[i].digest);
	if (report->render.done) {
		struct members render = member_object(&work, "render");
		member_number(&render, "pixels", RENDER_SIZE * RENDER_SIZE);
		member_number(&render, "mismatches", (double)report->render.mismatches);
		member_item(&render, "firstMismatch", first_mismatch_json(&report->render, true));
	} else {
		member_null(&work, "render");
	}

	if (report->video != NULL)
		member_copy(&work, "video", report->video);
	if (report->measured != NULL)
		member_copy(&work, "measured", report->measured);
	add_neighbours(&work, report);
	if (report->memory_free != 0)
		member_number(&work, "memoryFreeBytes", (double)report->memory_free);

	struct members timings = member_object(&work, "timings");
	for (size_t i = WORK_STAGE_DEVICE; i < WORK_STAGE_COUNT; i++) {
		char name[32] = "";
		(void)snprintf(name, sizeof(name), "%sMs", stage_names[i]);
		if (report->stage_ns[i] != 0)
			member_milliseconds(&timings, name, report->stage_ns[i]);
		else if (i != WORK_STAGE_LOOK)
			member_null(&timings, name);
	}
	return members_take(&work);
}
