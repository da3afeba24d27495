/* SPDX-License-Identifier: MIT */
/* What the APIs of one container tell, beside one another: do they mean the same device, and what do those
 * show that manage devices past their assignment? The containers are those of sights.h. */
#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "base/json.h"
#include "base/text.h"
#include "conformance/checks/sights.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"
#include "conformance/runner/context.h"

/* "lavapipe is shown by vulkan" */
static void note_apis(struct check_run *run, const char *label, const cJSON *document)
{
	struct text names CLEANUP_TEXT = {0};
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		if (cJSON_GetArraySize(agreement_shown(document, api->name)) != 0)
			text_addf(&names, "%s%s", names.size != 0 ? ", " : "", api->name);
	}
	check_note(run, "%s is shown by %s", label,
		   names.size != 0 ? text_string(&names) : "no API");
}

void isolation_apis_agree(struct check_run *run)
{
	cJSON *sights CLEANUP_JSON = sights_take(run);
	size_t compared = 0;
	json_each (sight, sights) {
		const char *label = json_pointer_string(sight, "/label");
		const cJSON *document = json_pointer(sight, "/document");
		if (cJSON_GetArraySize(json_pointer(sight, "/devices")) != 1)
			continue;
		note_apis(run, label, document);
		compared += agreement_expect(run, label, document);
	}
	if (sights != NULL && compared == 0)
		check_not_applicable(run, "no two APIs of a container tell the same of a device");
}

/* The granted devices, as far as the PCI bus has them. */
static bool is_granted(const struct discovery_snapshot *node, const cJSON *ids, const cJSON *seen)
{
	const struct discovery_device *device = visibility_device(node, "nvml", seen);
	json_each (id, ids) {
		if (device != NULL && text_equal(device->id, cJSON_GetStringValue(id)))
			return true;
	}
	return false;
}

/* One container. True: such an API answered. */
static bool judge_management(struct check_run *run, const cJSON *sight, const char *api)
{
	const char *label = json_pointer_string(sight, "/label");
	const cJSON *document = json_pointer(sight, "/document");
	const cJSON *devices = agreement_shown(document, api);
	struct tally tally = TALLY(run, check_format(run, "%s: devices through %s", label, api),
				   "those that were granted");
	json_each (device, devices) {
		const char *address = json_pointer_string(device, "/pciAddress");
		tally_add(&tally,
			  is_granted(check_context(run)->node, json_pointer(sight, "/devices"),
				     device),
			  "%s at %s", json_pointer_string(device, "/name"),
			  address != NULL ? address : "an unknown address");
	}
	(void)tally_end(&tally);
	if (devices != NULL && tally.count == 0)
		(void)check_expect_is(
			run, cJSON_GetArraySize(agreement_shown(document, "cuda")) == 0, tally.what,
			"none, as through CUDA", "none, and CUDA shows one");
	return devices != NULL;
}

void isolation_management_apis(struct check_run *run)
{
	cJSON *sights CLEANUP_JSON = sights_take(run);
	bool answered = false;
	json_each (sight, sights) {
		for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++)
			answered =
				(api->past_assignment && judge_management(run, sight, api->name)) ||
				answered;
	}
	if (sights != NULL && !answered)
		check_not_applicable(run, "no management library answers in a container");
}
