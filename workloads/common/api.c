/* SPDX-License-Identifier: MIT */
#include "workloads/common/api.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/library.h"

#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
	[API_OK] = "ok",
	[API_UNSUPPORTED] = "unsupported",
	[API_FAILED] = "failed",
};

int api_report_begin(struct api_report *report, const char *name, const char *library,
		     struct error *err)
{
	*report = (struct api_report){.name = name, .library = library};
	report->devices = cJSON_CreateArray();
	return report->devices != NULL ? 0 : error_memory(err);
}

void api_report_free(struct api_report *report)
{
	text_list_free(&report->messages);
	cJSON_Delete(report->platforms);
	cJSON_Delete(report->devices);
	*report = (struct api_report){0};
}

void api_report_loaded(struct api_report *report, void *library)
{
	library_path(library, report->path, sizeof(report->path));
	library_version(library, report->file_version, sizeof(report->file_version));
}

void api_report_unsupported(struct api_report *report, const char *missing,
			    const struct error *reason)
{
	report->status = API_UNSUPPORTED;
	report->missing = missing;
	(void)snprintf(report->reason, sizeof(report->reason), "%s", reason->text);
}

void api_report_failed(struct api_report *report, const struct error *reason)
{
	report->status = API_FAILED;
	(void)snprintf(report->reason, sizeof(report->reason), "%s", reason->text);
}

void api_report_message(struct api_report *report, const char *message)
{
	char cut[API_MESSAGE_SIZE_MAX + 1] = "";

	if (report->messages.count >= API_MESSAGES_MAX)
		return;
	(void)snprintf(cut, sizeof(cut), "%s", message);
	(void)text_list_add(&report->messages, cut, NULL);
}

static cJSON *messages_json(const struct text_list *messages)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();

	for (size_t i = 0; i < messages->count; i++) {
		const char *message = messages->items[i];

		if (!array_add(array, json_new_string(message, strlen(message))))
			return NULL;
	}
	return STEAL(array);
}

static cJSON *loader_json(const struct api_report *report)
{
	struct members loader CLEANUP_MEMBERS = members_new();

	member_string(&loader, "library", report->library);
	member_optional(&loader, "path", report->path);
	member_optional(&loader, "version", report->version);
	member_optional(&loader, "fileVersion", report->file_version);
	return members_take(&loader);
}

void api_report_members(struct api_report *report, struct members *members)
{
	struct members api CLEANUP_MEMBERS = members_new();

	member_string(&api, "name", report->name);
	member_string(&api, "status", status_names[report->status]);
	member_optional(&api, "reason", report->reason);
	member_string(&api, "missing", report->missing);
	member_item(&api, "loader", loader_json(report));
	member_item(&api, "messages", messages_json(&report->messages));
	if (report->emulator[0] != '\0')
		member_string(&api, "emulator", report->emulator);
	member_milliseconds(&api, "openMs", report->open_ns);
	member_item(members, "api", members_take(&api));
	if (report->platforms != NULL)
		member_item(members, "platforms", STEAL(report->platforms));
	member_item(members, "devices", STEAL(report->devices));
}
