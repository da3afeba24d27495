/* SPDX-License-Identifier: MIT */
#include "workloads/nvenc/nvenc.h"

#include "base/cleanup.h"

#include <stdio.h>

/* Bits 28 to 30 are the same in each version word; bit 31 is set in those of some structures. */
#define WORD(major, minor, number)                                                                 \
	((uint32_t)(major) | (uint32_t)(minor) << 24 | (uint32_t)(number) << 16 | 7u << 28)
#define MARKED(major, minor, number) (WORD(major, minor, number) | 1u << 31)

/* The newest first. */
static const struct nvenc_versions versions[] = {
	{12 << 4 | 1, 12 | 1 << 24, WORD(12, 1, 2), MARKED(12, 1, 8), MARKED(12, 1, 6),
	 MARKED(12, 1, 4), MARKED(12, 1, 6), MARKED(12, 1, 1), WORD(12, 1, 1)},
	{11 << 4 | 1, 11 | 1 << 24, WORD(11, 1, 2), MARKED(11, 1, 7), MARKED(11, 1, 5),
	 MARKED(11, 1, 4), MARKED(11, 1, 4), WORD(11, 1, 1), WORD(11, 1, 1)},
};

#define NO_ENGINE                                                                                  \
	"the device has no encode engine, as those for data centers, or this part of it (MIG) has none"
#define TOO_OLD "the driver is too old for this version of NVENC: 470.57 or later is needed"

static const struct code_advice codes[] = {
	{1, "NV_ENC_ERR_NO_ENCODE_DEVICE", NO_ENGINE},
	{2, "NV_ENC_ERR_UNSUPPORTED_DEVICE", NO_ENGINE},
	{3, "NV_ENC_ERR_INVALID_ENCODERDEVICE", NULL},
	{4, "NV_ENC_ERR_INVALID_DEVICE", NULL},
	{5, "NV_ENC_ERR_DEVICE_NOT_EXIST", "the device is gone: read the host's kernel log"},
	{6, "NV_ENC_ERR_INVALID_PTR", NULL},
	{8, "NV_ENC_ERR_INVALID_PARAM",
	 "libnvidia-encode and libcuda may be of different drivers: mount those of the host"},
	{9, "NV_ENC_ERR_INVALID_CALL", NULL},
	{10, "NV_ENC_ERR_OUT_OF_MEMORY",
	 "the device has no memory left, or as many sessions as its driver allows: end other encoders"},
	{11, "NV_ENC_ERR_ENCODER_NOT_INITIALIZED", NULL},
	{12, "NV_ENC_ERR_UNSUPPORTED_PARAM", NULL},
	{15, "NV_ENC_ERR_INVALID_VERSION", TOO_OLD},
	{16, "NV_ENC_ERR_MAP_FAILED", NULL},
	{17, "NV_ENC_ERR_NEED_MORE_INPUT", NULL},
	{20, "NV_ENC_ERR_GENERIC", "read the host's kernel log"},
	{21, "NV_ENC_ERR_INCOMPATIBLE_CLIENT_KEY", NULL},
	{22, "NV_ENC_ERR_UNIMPLEMENTED", NULL},
};

int nvenc_check(NVENCSTATUS result, const char *call, struct call_failure *failure,
		struct error *err)
{
	if (result == NV_ENC_SUCCESS)
		return 0;

	struct error reason = {0};
	(void)call_failed_advised(failure, call, (int)result, codes, ARRAY_SIZE(codes), &reason);
	if (result == NV_ENC_ERR_NO_ENCODE_DEVICE || result == NV_ENC_ERR_UNSUPPORTED_DEVICE)
		return error_set(err, ERROR_UNSUPPORTED, VIDEO_NOTHING ": %s", reason.text);
	return error_copy(err, &reason);
}

static int nvenc_work(void *session, const struct work_request *request, struct work_report *report,
		      struct error *err)
{
	return video_work(&nvenc_encoder, session, false, request, report, err);
}

static int nvenc_open(struct api_report *report, void *session, struct error *err)
{
	struct nvenc *nvenc = session;
	NVENCSTATUS(NVENCAPI * get_version)(uint32_t * version) = NULL;
	NVENCSTATUS(NVENCAPI * create)(NV_ENCODE_API_FUNCTION_LIST * list) = NULL;
	const struct api_function functions[] = {
		{"NvEncodeAPIGetMaxSupportedVersion", &get_version},
		{"NvEncodeAPICreateInstance", &create},
		{NULL, NULL},
	};
	uint32_t most = 0;

	int rc = api_load(report, NVENC_LIBRARY, functions, err);
	if (rc == 0)
		rc = nvenc_check(get_version(&most), "NvEncodeAPIGetMaxSupportedVersion", NULL,
				 err);
	if (rc != 0)
		return rc;
	(void)snprintf(report->version, sizeof(report->version), "%u.%u", (unsigned)most >> 4,
		       (unsigned)most & 0xFu);
	/* The newest version that the driver knows. */
	nvenc->versions = &versions[most >= versions[0].packed ? 0 : 1];
	if (most < nvenc->versions->packed)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the driver knows NVENC %s, and 11.1 is needed: " TOO_OLD,
				 report->version);

	NV_ENCODE_API_FUNCTION_LIST *calls = &nvenc->calls;
	calls->version = nvenc->versions->functions;
	rc = nvenc_check(create(calls), "NvEncodeAPICreateInstance", NULL, err);
	if (rc != 0)
		return rc;
#define X(function)                                                                                \
	if (calls->function == NULL)                                                               \
		return error_set(err, ERROR_UNAVAILABLE,                                           \
				 NVENC_LIBRARY " has no function " #function);
#include "workloads/nvenc/functions.h" /* those that this folder calls */
#undef X
	return api_open_devices(nvenc_devices, report, &nvenc->devices, err);
}

static void nvenc_close(void *session)
{
	struct nvenc *nvenc = session;

	api_close(nvenc_devices, nvenc->devices);
}

const struct api_driver nvenc_api = {
	.name = "nvenc",
	.library = NVENC_LIBRARY,
	.summary = "Encode video with NVENC on a device and report what happened",
	.description =
		"Opens the encode library of NVIDIA's driver, lists what one device encodes, and encodes moving frames with "
		"each codec. The streams are in the document, for verify-video.",
	.session_size = sizeof(struct nvenc),
	.open = nvenc_open,
	.work = nvenc_work,
	.close = nvenc_close,
};
