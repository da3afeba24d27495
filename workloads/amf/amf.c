/* SPDX-License-Identifier: MIT */
#include "workloads/amf/amf.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>

/* Contexts on Vulkan can be told their device since then. */
#define NEEDED AMF_VERSION(1, 4, 9)

static const struct code_advice codes[] = {
	{1, "AMF_FAIL", "read the host's kernel log"},
	{2, "AMF_UNEXPECTED", NULL},
	{3, "AMF_ACCESS_DENIED", "the container may not open the device's node"},
	{4, "AMF_INVALID_ARG", NULL},
	{5, "AMF_OUT_OF_RANGE", NULL},
	{6, "AMF_OUT_OF_MEMORY", "the device has no memory left: end other work on it"},
	{7, "AMF_INVALID_POINTER", NULL},
	{8, "AMF_NO_INTERFACE", NULL},
	{9, "AMF_NOT_IMPLEMENTED", NULL},
	{10, "AMF_NOT_SUPPORTED", NULL},
	{11, "AMF_NOT_FOUND", NULL},
	{13, "AMF_NOT_INITIALIZED", NULL},
	{14, "AMF_INVALID_FORMAT", NULL},
	{15, "AMF_WRONG_STATE", NULL},
	{17, "AMF_NO_DEVICE",
	 "it is no device of AMD's driver, or the driver's files are not in the container"},
	{18, "AMF_DIRECTX_FAILED", "read the event log of the display subsystem"},
	{29, "AMF_INVALID_RESOLUTION", NULL},
	{30, "AMF_CODEC_NOT_SUPPORTED", NULL},
	{36, "AMF_ENCODER_NOT_PRESENT",
	 "amdenc64 of the driver is not in the container, or the device has no encoder"},
	{45, "AMF_VULKAN_FAILED", "the driver's Vulkan is not AMD's own, or of another version"},
};

int amf_check(amf_result result, const char *call, struct call_failure *failure, struct error *err)
{
	if (result == AMF_OK)
		return 0;
	return call_failed_advised(failure, call, result, codes, ARRAY_SIZE(codes), err);
}

int amf_check_present(amf_result result, const char *call, struct call_failure *failure,
		      struct error *err)
{
	struct error told = {0};
	int rc = amf_check(result, call, failure, &told);
	if (result == AMF_NOT_SUPPORTED || result == AMF_NOT_FOUND || result == AMF_NO_DEVICE ||
	    result == AMF_CODEC_NOT_SUPPORTED || result == AMF_ENCODER_NOT_PRESENT)
		rc = ERROR_UNSUPPORTED;
	return rc == 0 ? 0 : error_set(err, rc, "%s", told.text);
}

int amf_check_made(int rc, amf_object made, const char *call, struct error *err)
{
	return rc == 0 && made == NULL
		       ? error_set(err, ERROR_REMOTE, "%s succeeded and made none", call)
		       : rc;
}

void amf_release(amf_object object)
{
	if (object != NULL)
		(void)AMF_METHOD(object, AMFInterface, Release)(object);
}

static int amf_work(void *session, const struct work_request *request, struct work_report *report,
		    struct error *err)
{
	return video_work(&amf_encoder, session, false, request, report, err);
}

static int load(struct amf *amf, struct api_report *report, struct error *err)
{
	amf_result (*query)(uint64_t * version) = NULL;
	amf_result (*init)(uint64_t version, amf_object * out) = NULL;
	const struct api_function functions[] = {
		{"AMFQueryVersion", &query}, {"AMFInit", &init}, {NULL, NULL}};
	uint64_t version = 0;
	int rc = api_load(report, AMF_LIBRARY, functions, err);
	if (rc == 0)
		rc = amf_check(query(&version), "AMFQueryVersion", NULL, err);
	if (rc != 0)
		return rc;
	(void)snprintf(report->version, sizeof(report->version), "%u.%u.%u",
		       (unsigned)(version >> 48), (unsigned)(version >> 32) & 0xFFFFu,
		       (unsigned)(version >> 16) & 0xFFFFu);
	if (version < NEEDED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the driver offers AMF %s, and 1.4.9 is needed: update the driver",
				 report->version);
	rc = amf_check(init(NEEDED, &amf->factory), "AMFInit", NULL, err);
	return amf_check_made(rc, amf->factory, "AMFInit", err);
}

static int amf_open(struct api_report *report, void **session, struct error *err)
{
	struct amf *amf = *session;
	int rc = load(amf, report, err);
	return rc == 0 ? api_open_devices(amf_devices, report, &amf->devices, err) : rc;
}

static void amf_close(void *session)
{
	struct amf *amf = session;
	amf_devices->close(amf->devices);
	free(amf);
}

const struct api_driver amf_api = {
	.name = "amf",
	.library = AMF_LIBRARY,
	.summary = "Encode video with AMF on a device and report what happened",
	.description =
		"Opens the media framework of AMD's driver, lists what one device encodes, and encodes moving frames with each "
		"codec. The streams are in the document, for verify-video.",
	.session_size = sizeof(struct amf),
	.open = amf_open,
	.work = amf_work,
	.close = amf_close,
};
