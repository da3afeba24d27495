/* SPDX-License-Identifier: MIT */
/* APIs: a container with a device computes on it. */
#include "conformance/checks/grant.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/suites.h"

#include <string.h>

enum { ELEMENTS = 1 << 20, IDS_MAX = 256 };

/* The device that the probe worked on is the one that was granted. */
static void api_expect_identity(struct check_run *run, const struct discovery_device *device,
				const cJSON *document)
{
	const cJSON *address = json_pointer(document, "/devices/0/pciAddress");
	const cJSON *software = json_pointer(document, "/devices/0/software");

	if (device->kind == DISCOVERY_SOFTWARE)
		(void)check_expect(run, cJSON_IsTrue(software), "/devices/0/software", "true", "%s",
				   cJSON_IsTrue(software) ? "true" : "false");
	else if (cJSON_IsString(address) && device->pci_address[0] != '\0')
		(void)check_expect_text(run, "/devices/0/pciAddress", address->valuestring,
					device->pci_address);
	else
		check_note(run, "%s: the API does not tell the PCI address", device->id);
}

static const char *api_text(const cJSON *document, const char *pointer)
{
	const cJSON *node = json_pointer(document, pointer);

	return cJSON_IsString(node) ? node->valuestring : "";
}

/* `status`, followed by why when the document says so. */
static bool api_expect_status(struct check_run *run, const cJSON *document, bool held,
			      const char *what, const char *wanted, const char *status,
			      const char *reason)
{
	const char *why = api_text(document, reason);

	return check_expect(run, held, what, wanted, "%s%s%s%s", api_text(document, status),
			    why[0] != '\0' ? " (" : "", why, why[0] != '\0' ? ")" : "");
}

static void api_expect_work(struct check_run *run, const struct discovery_device *device,
			    const char *api, const cJSON *document)
{
	const cJSON *elements = json_pointer(document, "/work/elements");
	int count = cJSON_GetArraySize(json_pointer(document, "/devices"));

	if (!api_expect_status(run, document, strcmp(api_text(document, "/api/status"), "ok") == 0,
			       "/api/status", "ok", "/api/status", "/api/reason"))
		return;
	if (!check_expect_int(run, "/devices/count", count, 1))
		return;
	(void)api_expect_status(run, document,
				cJSON_IsTrue(json_pointer(document, "/work/verified")),
				"/work/verified", "ok", "/work/status", "/work/reason");
	(void)check_expect(run, cJSON_IsNumber(elements) && elements->valuedouble >= ELEMENTS,
			   "/work/elements", "at least 1048576", "%.0f",
			   cJSON_IsNumber(elements) ? elements->valuedouble : 0);
	api_expect_identity(run, device, document);
	check_note(run, "%s computed on %s: %s", api, device->id,
		   api_text(document, "/devices/0/name"));
}

struct api_tally {
	struct text_list tested; /* ids of devices */
};

/* One id: when it grants a device that offers the API and was not tested yet, runs the probe with
 * it. */
static void api_try_id(struct rig *rig, struct stage *stage, const char *api, const char *resource,
		       const char *id, struct api_tally *tally)
{
	struct kubelet_container_options options = {0};
	char *probe CLEANUP_FREE = text_format("probe-%s", api);
	const char *const command[] = {probe, "--device", "0", "--size", "1048576", NULL};

	if (probe == NULL || !rig_allocate(rig, resource, id, &options))
		return;
	struct grant grant = grant_read(rig->context->node, &options);
	const struct discovery_device *device = grant.count == 1 ? grant.devices[0] : NULL;

	if (device != NULL && grant_device_offers(device, api) &&
	    !text_list_has(&tally->tested, device->id)) {
		char *label CLEANUP_FREE = text_format("%s-%s", probe, device->id);
		const cJSON *document =
			stage_run(stage, label != NULL ? label : probe, command, &options);

		(void)text_list_add(&tally->tested, device->id, NULL);
		check_add_device(rig->run, device->id);
		if (document != NULL)
			api_expect_work(rig->run, device, api, document);
	}
	kubelet_container_options_free(&options);
}

static void api_computes(struct check_run *run, const char *api)
{
	struct rig *rig = rig_ready(run);
	struct stage *stage = rig != NULL ? stage_open(run, &rig->loop) : NULL;
	struct api_tally tally = {0};
	size_t offering = 0;

	for (size_t i = 0; stage != NULL && i < rig->resources.count; i++) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};

		if (!rig_healthy_ids(rig, rig->resources.items[i], &ids))
			break;
		for (size_t j = 0; j < ids.count && j < IDS_MAX; j++)
			api_try_id(rig, stage, api, rig->resources.items[i], ids.items[j], &tally);
	}
	for (size_t i = 0; stage != NULL && i < rig->context->node->device_count; i++) {
		const struct discovery_device *device = &rig->context->node->devices[i];

		if (!grant_device_offers(device, api))
			continue;
		offering++;
		if (rig->context->resource == NULL)
			(void)check_expect(run, text_list_has(&tally.tested, device->id),
					   device->id, "granted by some id", "%s",
					   text_list_has(&tally.tested, device->id)
						   ? "granted"
						   : "never granted");
	}
	if (stage != NULL && offering != 0 && tally.tested.count == 0)
		check_unsupported(
			run, "no id of the resources under test grants a device that offers %s",
			api);
	text_list_free(&tally.tested);
}

static void api_vulkan(struct check_run *run)
{
	api_computes(run, "vulkan");
}

static void api_opencl(struct check_run *run)
{
	api_computes(run, "opencl");
}

static const char *const tags_api[] = {"gpu", "container", NULL};

static const struct check checks[] = {
	{
		.id = "api.vulkan",
		.title = "Containers compute with Vulkan on each device that offers it",
		.advice = "Read the probe's document and stderr in the evidence: a missing file of "
			  "the driver "
			  "makes the loader find no device.",
		.requirement = CHECK_API_01,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 300,
		.tags = tags_api,
		.needs = {.devices = 1, .launcher = true, .api = "vulkan"},
		.run = api_vulkan,
	},
	{
		.id = "api.opencl",
		.title = "Containers compute with OpenCL on each device that offers it",
		.advice = "Read the probe's document and build log in the evidence: kernels are "
			  "built by the "
			  "driver in the container, which needs its compiler's files too.",
		.requirement = CHECK_API_01,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 300,
		.tags = tags_api,
		.needs = {.devices = 1, .launcher = true, .api = "opencl"},
		.run = api_opencl,
	},
	{.id = NULL},
};

const struct check_suite suite_api = {
	.name = "api",
	.title = "GPU APIs inside containers",
	.checks = checks,
};
