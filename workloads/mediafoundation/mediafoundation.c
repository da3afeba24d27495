/* SPDX-License-Identifier: MIT */
#include "workloads/mediafoundation/mediafoundation.h"

#include "base/cleanup.h"
#include "base/library.h"

#include <stdlib.h>

enum { MULTITHREADED = 0 /* COINIT_MULTITHREADED */ };

const GUID *mediafoundation_subtype(enum video_codec codec)
{
	static const GUID *const subtypes[VIDEO_CODECS] = {
		[VIDEO_H264] = &MFVideoFormat_H264,
		[VIDEO_HEVC] = &MFVideoFormat_HEVC,
		[VIDEO_AV1] = &MFVideoFormat_AV1,
	};
	return subtypes[codec];
}

static int make_type(const struct mediafoundation *mf, const GUID *subtype,
		     const struct video_source *source, IMFMediaType **out, struct error *err)
{
	const UINT64 size = (UINT64)source->width << 32 | source->height;
	const struct {
		const GUID *key;
		UINT64 value;
	} pairs[] = {
		{&MF_MT_FRAME_SIZE, size},
		{&MF_MT_FRAME_RATE, (UINT64)VIDEO_RATE << 32 | 1},
		{&MF_MT_PIXEL_ASPECT_RATIO, UINT64_C(1) << 32 | 1},
	};
	int rc = hresult_check(mf->calls.create_type(out), "MFCreateMediaType", NULL, err);
	if (rc == 0)
		rc = MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetGUID, *out, &MF_MT_MAJOR_TYPE,
					  &MFMediaType_Video);
	if (rc == 0)
		rc = MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetGUID, *out, &MF_MT_SUBTYPE,
					  subtype);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(pairs); i++)
		rc = MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetUINT64, *out, pairs[i].key,
					  pairs[i].value);
	if (rc == 0)
		rc = MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetUINT32, *out,
					  &MF_MT_INTERLACE_MODE, MFVideoInterlace_Progressive);
	return rc;
}

int mediafoundation_input_type(const struct mediafoundation *mf, const struct video_source *source,
			       IMFMediaType **out, struct error *err)
{
	int rc = make_type(mf, &MFVideoFormat_NV12, source, out, err);
	return rc == 0 ? MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetUINT32, *out,
					      &MF_MT_DEFAULT_STRIDE, source->width)
		       : rc;
}

int mediafoundation_output_type(const struct mediafoundation *mf, enum video_codec codec,
				const struct video_source *source, IMFMediaType **out,
				struct error *err)
{
	int rc = make_type(mf, mediafoundation_subtype(codec), source, out, err);
	return rc == 0 ? MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetUINT32, *out,
					      &MF_MT_AVG_BITRATE, VIDEO_BIT_RATE)
		       : rc;
}

static int mediafoundation_work(void *session, const struct work_request *request,
				struct work_report *report, struct error *err)
{
	struct mediafoundation *mf = session;
	cJSON *device CLEANUP_JSON = dxgi_describe(mf->dxgi, request->device);
	const bool software = cJSON_IsTrue(cJSON_GetObjectItem(device, "software"));
	int rc = video_work(&mediafoundation_encoder, mf, software, request, report, err);
	if (rc != ERROR_TIMEOUT)
		mediafoundation_forget(mf);
	return rc;
}

static int load(struct mediafoundation_calls *calls, struct api_report *report, struct error *err)
{
	const struct api_function mfplat[] = {
		{"MFStartup", &calls->startup},
		{"MFShutdown", &calls->shutdown},
		{"MFTEnumEx", &calls->enumerate},
		{"MFCreateAttributes", &calls->create_attributes},
		{"MFCreateMediaType", &calls->create_type},
		{"MFCreateSample", &calls->create_sample},
		{"MFCreateMemoryBuffer", &calls->create_buffer},
		{NULL, NULL},
	};
	const struct api_function ole32[] = {
		{"CoInitializeEx", &calls->initialize},
		{"CoTaskMemFree", &calls->free_memory},
		{NULL, NULL},
	};
	void *library = NULL;
	int rc = api_load(report, MEDIAFOUNDATION_LIBRARY, mfplat, err);
	if (rc == 0)
		rc = api_load(NULL, "ole32.dll", ole32, err);
	if (rc == 0 && library_open(MEDIAFOUNDATION_LIBRARY, &library, NULL) == 0)
		(void)library_function(library, "MFTEnum2", &calls->enumerate_of, NULL);
	return rc;
}

/* E_NOTIMPL is the answer of editions of Windows without media features. */
static int start(const struct mediafoundation_calls *calls, struct api_report *report,
		 struct error *err)
{
	int rc = hresult_check(calls->initialize(NULL, MULTITHREADED), "CoInitializeEx", NULL, err);
	if (rc != 0)
		return rc;
	const HRESULT result = calls->startup(MF_VERSION, MFSTARTUP_FULL);
	rc = hresult_check(result, "MFStartup", NULL, err);
	if (result != E_NOTIMPL)
		return rc;
	report->missing = "Media Foundation";
	return error_set(err, ERROR_UNSUPPORTED,
			 "this Windows has no Media Foundation: MFStartup: E_NOTIMPL");
}

static int mediafoundation_open(struct api_report *report, void **session, struct error *err)
{
	struct mediafoundation *mf CLEANUP_FREE = calloc(1, sizeof(*mf));
	if (mf == NULL)
		return error_memory(err);
	void *dxgi = NULL;
	wine_name(report->emulator, sizeof(report->emulator));
	int rc = load(&mf->calls, report, err);
	if (rc == 0)
		rc = start(&mf->calls, report, err);
	if (rc == 0)
		rc = dxgi_open(report, &dxgi, err);
	mf->dxgi = dxgi;
	if (rc == 0)
		*session = STEAL(mf);
	return rc;
}

static void mediafoundation_close(void *session)
{
	struct mediafoundation *mf = session;
	dxgi_close(mf->dxgi);
	(void)mf->calls.shutdown();
	free(mf);
}

const struct api_driver mediafoundation_api = {
	.name = "mediafoundation",
	.library = MEDIAFOUNDATION_LIBRARY,
	.summary = "Encode video with Media Foundation on a device and report what happened",
	.description =
		"Opens Media Foundation, lists the encoders of one adapter, those of its hardware told from those that run on a "
		"processor, and encodes moving frames with each codec. The streams are in the document, for verify-video.",
	.open = mediafoundation_open,
	.work = mediafoundation_work,
	.close = mediafoundation_close,
};
