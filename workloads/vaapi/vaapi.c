/* SPDX-License-Identifier: MIT */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct code_advice codes[] = {
#include "workloads/vaapi/codes.h" /* generated from the specification's header */
	{(int)VA_STATUS_ERROR_UNKNOWN, "VA_STATUS_ERROR_UNKNOWN", NULL},
};

int vaapi_check(struct call_failure *failure, VAStatus status, const char *call, struct error *err)
{
	if (status == VA_STATUS_SUCCESS)
		return 0;
	return call_failed_advised(failure, call, status, codes, ARRAY_SIZE(codes), err);
}

/* Collects libva's messages while it looks for a driver. */
struct listener {
	struct api_report *report;
	bool found; /* a driver, which cannot be used */
};

static void listen(void *user, const char *message)
{
	static const char *const of_a_driver[] = {"dlopen of ", "has no function ",
						  "Failed to define "};
	struct listener *listener = user;

	for (size_t i = 0; i < ARRAY_SIZE(of_a_driver); i++)
		listener->found = listener->found || strstr(message, of_a_driver[i]) != NULL;
	api_report_message(listener->report, message);
}

static int initialise(struct vaapi *va, struct vaapi_node *node, struct api_report *report,
		      struct error *err)
{
	struct listener listener = {.report = report};
	int major = 0, minor = 0;

	node->display = va->drm.vaGetDisplayDRM(node->fd);
	if (node->display == NULL)
		return error_set(
			err, ERROR_REMOTE,
			"vaGetDisplayDRM: no display on %s, which is not a DRM node or has no "
			"entry in /sys/dev/char",
			node->path);
	(void)va->vaSetInfoCallback(node->display, NULL, NULL);
	(void)va->vaSetErrorCallback(node->display, listen, &listener);
	const VAStatus status = va->vaInitialize(node->display, &major, &minor);
	(void)va->vaSetErrorCallback(node->display, NULL, NULL);
	(void)snprintf(node->version, sizeof(node->version), "%d.%d", major, minor);

	/* Without a driver for the device libva returns its code for the unknown. */
	int rc = vaapi_check(&node->failure, status, "vaInitialize", err);
	if (status != (VAStatus)VA_STATUS_ERROR_UNKNOWN || listener.found)
		return rc;
	node->failure = (struct call_failure){0};
	return error_set(err, ERROR_UNSUPPORTED,
			 "libva has no driver for %s (vaInitialize: VA_STATUS_ERROR_UNKNOWN)",
			 node->path);
}

static void vaapi_close(void *session)
{
	struct vaapi *va = session;

	for (size_t i = 0; i < va->count; i++) {
		if (va->nodes[i].display != NULL)
			(void)va->vaTerminate(va->nodes[i].display);
		(void)close(va->nodes[i].fd);
	}
}

static int vaapi_open(struct api_report *report, void *session, struct error *err)
{
	struct vaapi *va = session;
#define X(name) {#name, &va->name},
	const struct api_function functions[] = {
#include "workloads/vaapi/functions.h"
		{NULL, NULL}};
#undef X

	int rc = api_load(report, VAAPI_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	report->missing = VAAPI_DRM_LIBRARY;
	rc = api_load_one(report, VAAPI_DRM_LIBRARY, "vaGetDisplayDRM", &va->drm.vaGetDisplayDRM,
			  err);
	if (rc != 0)
		return rc;
	report->missing = "VA driver";
	rc = vaapi_open_nodes(va, report, err);
	if (rc != 0)
		return rc;

	/* A node without a driver does not hide the others; only if none has one, the API fails. */
	const struct error *worst = NULL;
	size_t working = 0;
	for (size_t i = 0; i < va->count; i++) {
		struct vaapi_node *node = &va->nodes[i];
		if (initialise(va, node, report, &node->reason) == 0)
			working++;
		else if (worst == NULL || worst->code == ERROR_UNSUPPORTED)
			worst = &node->reason;
	}
	if (working == 0 && worst != NULL)
		return error_copy(err, worst);
	for (size_t i = 0; i < va->count; i++)
		api_report_device(report, vaapi_describe(va, i));
	return 0;
}

static int vaapi_work(void *session, const struct work_request *request, struct work_report *report,
		      struct error *err)
{
	struct vaapi *va = session;
	const struct vaapi_node *node = &va->nodes[request->device];

	if (node->reason.code != 0) {
		report->failure = node->failure;
		return error_copy(err, &node->reason);
	}
	return video_work(&vaapi_encoder, va, false, request, report, err);
}

const struct api_driver vaapi_api = {
	.name = "vaapi",
	.library = VAAPI_LIBRARY,
	.summary = "Encode video with VA-API on a render node and report what happened",
	.description =
		"Opens libva and a display on each render node of /dev/dri, lists what each encodes, and encodes moving frames with "
		"each codec on one of them. The streams are in the document, for verify-video to decode.",
	.session_size = sizeof(struct vaapi),
	.open = vaapi_open,
	.work = vaapi_work,
	.close = vaapi_close,
};
