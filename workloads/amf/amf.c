/* SPDX-License-Identifier: MIT */
#include "workloads/amf/amf.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Contexts on Vulkan can be told their device since then. */
#define NEEDED AMF_VERSION(1, 4, 9)

const struct amf_codec amf_codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = {L"AMFVideoEncoderVCE_AVC", L"Usage", L"RateControlMethod", L"TargetBitrate",
			L"PeakBitrate", L"FrameRate", 1},
	[VIDEO_HEVC] = {L"AMFVideoEncoderHW_HEVC", L"HevcUsage", L"HevcRateControlMethod",
			L"HevcTargetBitrate", L"HevcPeakBitrate", L"HevcFrameRate", 3},
	[VIDEO_AV1] = {L"AMFVideoEncoderHW_AV1", L"Av1Usage", L"Av1RateControlMethod",
		       L"Av1TargetBitrate", L"Av1PeakBitrate", L"Av1FrameRate", 3},
};

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
	{12, "AMF_ALREADY_INITIALIZED", NULL},
	{13, "AMF_NOT_INITIALIZED", NULL},
	{14, "AMF_INVALID_FORMAT", NULL},
	{15, "AMF_WRONG_STATE", NULL},
	{17, "AMF_NO_DEVICE",
	 "it is no device of AMD's driver, or the driver's files are not in the container"},
	{18, "AMF_DIRECTX_FAILED", "read the event log of the display subsystem"},
	{23, "AMF_EOF", NULL},
	{24, "AMF_REPEAT", NULL},
	{25, "AMF_INPUT_FULL", NULL},
	{28, "AMF_INVALID_DATA_TYPE", NULL},
	{29, "AMF_INVALID_RESOLUTION", NULL},
	{30, "AMF_CODEC_NOT_SUPPORTED", NULL},
	{31, "AMF_SURFACE_FORMAT_NOT_SUPPORTED", NULL},
	{36, "AMF_ENCODER_NOT_PRESENT",
	 "amdenc64 of the driver is not in the container, or the device has no encoder"},
	{44, "AMF_NEED_MORE_INPUT", NULL},
	{45, "AMF_VULKAN_FAILED", "the driver's Vulkan is not AMD's own, or of another version"},
};

int amf_check(amf_result result, const char *call, struct call_failure *failure, struct error *err)
{
	if (result == AMF_OK)
		return 0;
	return call_failed_advised(failure, call, result, codes, ARRAY_SIZE(codes), err);
}

bool amf_is_absent(amf_result result)
{
	return result == AMF_NOT_SUPPORTED || result == AMF_NOT_FOUND || result == AMF_NO_DEVICE ||
	       result == AMF_CODEC_NOT_SUPPORTED || result == AMF_ENCODER_NOT_PRESENT;
}

void amf_release(void *object)
{
	struct amf_data *data = object;
	if (data != NULL)
		(void)data->calls->release(data);
}

static int amf_work(void *session, const struct work_request *request, struct work_report *report,
		    struct error *err)
{
	struct amf *amf = session;
	int rc = video_work(&amf_encoder, amf, false, request, report, err);
	if (rc != ERROR_TIMEOUT)
		amf_device_close(amf);
	if (rc != 0 && report->failure.call == NULL)
		report->failure = amf->failure;
	return rc;
}

static int load(struct amf *amf, struct api_report *report, struct error *err)
{
	amf_result (*query)(uint64_t * version) = NULL;
	amf_result (*init)(uint64_t version, struct amf_factory * *out) = NULL;
	const struct api_function functions[] = {
		{"AMFQueryVersion", &query}, {"AMFInit", &init}, {NULL, NULL}};
	uint64_t version = 0;
	int rc = api_load(report, AMF_LIBRARY, functions, err);
	if (rc == 0)
		rc = amf_check(query(&version), "AMFQueryVersion", &amf->failure, err);
	if (rc != 0)
		return rc;
	(void)snprintf(report->version, sizeof(report->version), "%u.%u.%u",
		       (unsigned)(version >> 48), (unsigned)(version >> 32) & 0xFFFFu,
		       (unsigned)(version >> 16) & 0xFFFFu);
	if (version < NEEDED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the driver offers AMF %s, and 1.4.9 is needed: update the driver",
				 report->version);
	rc = amf_check(init(NEEDED, &amf->factory), "AMFInit", &amf->failure, err);
	return rc == 0 && amf->factory == NULL
		       ? error_set(err, ERROR_REMOTE, "AMFInit succeeded and made no factory")
		       : rc;
}

static int amf_open(struct api_report *report, void **session, struct error *err)
{
	struct amf *amf CLEANUP_FREE = calloc(1, sizeof(*amf));
	char version[sizeof(report->version)] = "";
	if (amf == NULL)
		return error_memory(err);
	int rc = load(amf, report, err);
	memcpy(version, report->version, sizeof(version));
	if (rc == 0)
		rc = amf_devices_open(amf, report, err);
	memcpy(report->version, version, sizeof(version));
	if (rc == 0)
		*session = STEAL(amf);
	return rc;
}

static void amf_close(void *session)
{
	struct amf *amf = session;
	amf_devices_close(amf);
	free(amf);
}

const struct api_driver amf_api = {
	.name = "amf",
	.library = AMF_LIBRARY,
	.summary = "Encode video with AMF on a device and report what happened",
	.description =
		"Opens the media framework of AMD's driver, lists what one device encodes, and encodes moving frames with each "
		"codec. The streams are in the document, for verify-video.",
	.open = amf_open,
	.work = amf_work,
	.close = amf_close,
};
