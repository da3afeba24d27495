/* SPDX-License-Identifier: MIT */
#include "conformance/checks/api_document.h"

#include "conformance/checks/node_file.h"
#include "conformance/checks/shown.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/video.h"
#include "conformance/runner/context.h"
#include "containers/offers.h"
#include "reports/view.h"

#include <string.h>
#include <strings.h>

enum { ELEMENTS = 1 << 20 };

/* `status`, followed by why when the document says so. */
static bool expect_status(struct check_run *run, const cJSON *document, bool held, const char *what,
			  const char *wanted, const char *status, const char *reason)
{
	const char *why = view_string(document, reason);
	return check_expect(run, held, what, wanted, "%s%s%s%s", view_string(document, status),
			    why[0] != '\0' ? " (" : "", why, why[0] != '\0' ? ")" : "");
}

/* Why a Windows container cannot have the API, whatever the plugin does; NULL: it can. */
static const char *windows_lacks(struct check_run *run, const cJSON *document)
{
	const char *missing = view_string(document, "/api/missing");
	if (strcmp(missing, "window station") == 0)
		return "window station, which belongs to its session: the runtime's";
	if (strcmp(missing, "OpenGL driver") == 0 && node_is_windows(check_context(run)->node))
		return check_format(run,
				    "driver of OpenGL: Windows registers those of programs that "
				    "draw on a desktop, and hands containers DirectX only (%s)",
				    view_string(document, "/api/reason"));

	/* Libraries that belong to Windows: an image without them is not the plugin's fault. A
	 * dxcore.dll that is a stub is reported as "DXCore". */
	gpu_api_each (api) {
		if (api->windows_dll != NULL &&
		    (strcmp(api->windows_dll, missing) == 0 || strcasecmp(api->name, missing) == 0))
			return check_format(run, "%s, which belongs to the image, not to a driver",
					    missing);
	}
	return NULL;
}

/* identity_expect() records a software renderer that replaces the hardware. */
static bool expect_one_device(struct check_run *run, const struct discovery_device *device,
			      const cJSON *document)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	const struct shown_count shown =
		shown_count(json_pointer(document, "/devices"), node->system.emulator,
			    granted_is_partition(node, device));
	const bool software = device->kind == DISCOVERY_SOFTWARE;
	if (!software && shown.hardware == 0 && shown.software != 0)
		return true;
	if (!software && shown.software != 0)
		check_note(run, "%s: %lld software devices next to it do not count", device->id,
			   shown.software);
	const long long count = shown.hardware + (software ? shown.software : 0);
	return check_expect(run, count == 1, "/devices/count", "1", "%lld%s", count,
			    shown.hardware > 1 ? " devices of hardware" : "");
}

/* Records the outcome of the probe's work. A device without an encoder, or that cannot compute, is
 * not the plugin's fault; a plugin for a software device brings all that it needs. */
static void expect_outcome(struct check_run *run, const struct discovery_device *device,
			   const struct gpu_api *api, const struct grant *grant,
			   const cJSON *document)
{
	const char *status = view_string(document, "/work/status");
	const char *reason = view_string(document, "/work/reason");
	const bool software = device->kind == DISCOVERY_SOFTWARE;
	if (strcmp(status, "unsupported") == 0 && api->encodes &&
	    (software ||
	     (OFFERS_ENCODERS && video_has_no_encoder(check_context(run)->node, device, reason)))) {
		check_not_applicable(run, "%s: %s", device->id, reason);
		return;
	}
	if (strcmp(status, "unsupported") == 0 && !software) {
		check_unsupported(run, "%s: %s", device->id, reason);
		return;
	}

	if (OFFERS_ENCODERS && api->encodes) {
		/* That the streams are right is recorded when the document is read
		 * (authenticity.h). */
		if (expect_status(run, document, strcmp(status, "encoded") == 0, "/work/status",
				  "encoded", "/work/status", "/work/reason") &&
		    json_pointer(document, "/work/video/attempts") != NULL)
			video_expect_hardware(run, device, grant, document, api_is_offered);
		return;
	}
	const double elements = json_pointer_number(document, "/work/elements");
	(void)expect_status(run, document, json_pointer_true(document, "/work/verified"),
			    "/work/verified", "ok", "/work/status", "/work/reason");
	(void)check_expect(run, elements >= ELEMENTS, "/work/elements", "at least 1048576", "%.0f",
			   elements);
	check_note(run, "%s computed on %s: %s", api->name, device->id,
		   view_string(shown_device(document), "/name"));
}

/* Many plugins hand out device nodes only, and their users' images bring the driver. On Windows the host
 * brings it. */
static bool image_lacks_driver(struct check_run *run, const struct discovery_device *device,
			       const struct grant *grant, const cJSON *document)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	if (node_is_windows(node) || device->kind == DISCOVERY_SOFTWARE ||
	    grant_brings_library(grant))
		return false;
	if (strcmp(view_string(document, "/api/status"), "unsupported") == 0)
		return true;
	const struct shown_count shown =
		shown_count(json_pointer(document, "/devices"), node->system.emulator, false);
	if (shown.hardware != 0 || shown.software == 0)
		return false;

	/* Only software answers: are all nodes that the driver opens granted? A card's node need
	 * not be (drm-uapi: render nodes). */
	items_each (own, device->nodes, device->node_count) {
		bool granted = strstr(own->path, "/dri/card") != NULL;
		grant_each (entry, &grant->devices) {
			struct node_file file = {0};
			granted = granted || strcmp(entry->host_path, own->path) == 0 ||
				  (node_file_identify(entry->host_path, &file) &&
				   visibility_is_node_of(device, false, file.major, file.minor));
		}
		if (!granted)
			return false;
	}
	return device->node_count != 0;
}

void api_expect_document(struct check_run *run, const struct discovery_device *device,
			 const struct gpu_api *api, const struct grant *grant,
			 const cJSON *document, struct identity_seen *seen)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	if (OFFERS_ENCODERS && strcmp(view_string(document, "/api/missing"), "ffmpeg") == 0) {
		video_expect_ffmpeg(run, device, document, api_is_offered);
		return;
	}
	if (image_lacks_driver(run, device, grant, document)) {
		const char *reason = view_string(document, "/api/reason");
		check_unsupported(
			run,
			"%s: the answer brings no driver, and neither does the image; name one "
			"that does with --image (%s)",
			device->id, reason[0] != '\0' ? reason : "only software answers");
		return;
	}
	const char *lacks = windows_lacks(run, document);
	if (lacks != NULL) {
		check_unsupported(run, "%s: the container has no %s", device->id, lacks);
		return;
	}

	if (!expect_status(run, document, strcmp(view_string(document, "/api/status"), "ok") == 0,
			   "/api/status", "ok", "/api/status", "/api/reason"))
		return;
	if (api->past_assignment && node_is_windows(node)) {
		agreement_expect_among(run, device, document);
		return;
	}
	if (!expect_one_device(run, device, document))
		return;
	identity_expect(run, node, device, document, seen);
	if (api->encodes || !api->enumerates)
		expect_outcome(run, device, api, grant, document);
}
