/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/isolate.h"

#include "base/clock.h"

int isolate_ask(const struct api_driver *api, cJSON **out, struct error *err)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct members members CLEANUP_MEMBERS = members_new();
	uint64_t began_ns = clock_monotonic_ns();
	void *session = NULL;
	int code = api->open(&report, &session, err);

	if (code != 0)
		return code;
	report.open_ns = clock_monotonic_ns() - began_ns;
	api_report_members(&report, &members);
	*out = members_take(&members);
	return *out != NULL ? 0 : error_memory(err);
}

static int failed_json(const struct api_driver *api, const struct error *reason, cJSON **out,
		       struct error *err)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct members members CLEANUP_MEMBERS = members_new();
	int code = api_report_begin(&report, api->name, api->library, err);

	if (code != 0)
		return code;
	api_report_failed(&report, reason);
	api_report_members(&report, &members);
	*out = members_take(&members);
	return *out != NULL ? 0 : error_memory(err);
}

int isolate_enumerate(const struct api_driver *api, uint64_t timeout_ms, bool anew, cJSON **out,
		      struct error *err)
{
	struct error reason = {0};
	int code = isolate_run(api, timeout_ms, anew, out, &reason);

	if (code == ERROR_MEMORY)
		return error_memory(err);
	return code == 0 ? 0 : failed_json(api, &reason, out, err);
}
