/* SPDX-License-Identifier: MIT */
#include "workloads/mediafoundation/mediafoundation.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf16.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { MULTITHREADED = 0 /* COINIT_MULTITHREADED */ };

const GUID *const mediafoundation_subtypes[VIDEO_CODECS] = {
	[VIDEO_H264] = &MFVideoFormat_H264,
	[VIDEO_HEVC] = &MFVideoFormat_HEVC,
	[VIDEO_AV1] = &MFVideoFormat_AV1,
};

int mediafoundation_type(const struct mediafoundation *mf, const GUID *subtype,
			 const struct video_source *source, IMFMediaType **out, struct error *err)
{
	const bool frames = subtype == &MFVideoFormat_NV12;
	const struct {
		const GUID *key;
		VARTYPE type;
		UINT64 value;
	} items[] = {
		{&MF_MT_FRAME_SIZE, VT_UI8, (UINT64)source->width << 32 | source->height},
		{&MF_MT_FRAME_RATE, VT_UI8, (UINT64)VIDEO_RATE << 32 | 1},
		{&MF_MT_PIXEL_ASPECT_RATIO, VT_UI8, UINT64_C(1) << 32 | 1},
		{&MF_MT_INTERLACE_MODE, VT_UI4, MFVideoInterlace_Progressive},
		{frames ? &MF_MT_DEFAULT_STRIDE : &MF_MT_AVG_BITRATE, VT_UI4,
		 frames ? source->width : VIDEO_BIT_RATE},
	};

	int rc = hresult_check(mf->MFCreateMediaType(out), "MFCreateMediaType", NULL, err);
	if (rc == 0)
		rc = MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetGUID, *out, &MF_MT_MAJOR_TYPE,
					  &MFMediaType_Video);
	if (rc == 0)
		rc = MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetGUID, *out, &MF_MT_SUBTYPE,
					  subtype);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(items); i++) {
		/* A VT_UI4 is the lower half. */
		const PROPVARIANT value = {.vt = items[i].type, .uhVal.QuadPart = items[i].value};
		rc = MEDIAFOUNDATION_CALL(NULL, err, IMFMediaType, SetItem, *out, items[i].key,
					  &value);
	}
	return rc;
}

/* From mftransform.h and codecapi.h of newer Windows SDKs. */
static const GUID adapter_luid = {
	0x1d39518c, 0xe220, 0x4da8, {0xa0, 0x7f, 0xba, 0x17, 0x25, 0x52, 0xd6, 0xb1}};
static const GUID vendor_id = {
	0x3aecb0cc, 0x035b, 0x4bcc, {0x81, 0x85, 0x2b, 0x8d, 0x55, 0x1e, 0xf3, 0xaf}};
static const GUID b_picture_count = {
	0x8d390aac, 0xdc5c, 0x4200, {0xb5, 0x7f, 0x81, 0x4d, 0x04, 0xba, 0xba, 0xb2}};
static const GUID codec_api = {
	0x901db4c7, 0x31ce, 0x41a2, {0x85, 0xdc, 0x8f, 0xa0, 0xbf, 0x41, 0xb8, 0xda}};

enum { TYPES_MAX = 64, TEXT_MAX = 128 };

static void read_text(IMFActivate *activate, const GUID *key, char *out, size_t size)
{
	WCHAR wide[TEXT_MAX] = {0};
	UINT32 length = 0;

	if (FAILED(IMFActivate_GetString(activate, key, wide, TEXT_MAX, &length)))
		return;
	char *text CLEANUP_FREE = utf16_to_utf8(wide, wcsnlen(wide, TEXT_MAX));
	(void)snprintf(out, size, "%s", text);
}

/* Does a transform whose output type is set accept samples of 10 bits? */
static int accepts_ten_bits(IMFTransform *transform)
{
	for (DWORD i = 0; i < TYPES_MAX; i++) {
		IMFMediaType *type = NULL;
		GUID subtype = {0};

		if (FAILED(IMFTransform_GetInputAvailableType(transform, 0, i, &type)))
			return i == 0 ? VIDEO_UNKNOWN : 0;
		(void)IMFMediaType_GetGUID(type, &MF_MT_SUBTYPE, &subtype);
		com_release(type);
		if (IsEqualGUID(&subtype, &MFVideoFormat_P010))
			return 1;
	}
	return 0;
}

/* Would the transform accept this type? It reports no limits. Profile 0: any. */
static bool accepts(const struct mediafoundation *mf, IMFTransform *transform,
		    const struct video_offer *offer, const struct video_size *size, UINT32 profile,
		    DWORD flags)
{
	const struct video_source source = {.width = size->width, .height = size->height};
	IMFMediaType *type = NULL;

	bool accepted = mediafoundation_type(mf, mediafoundation_subtypes[offer->codec], &source,
					     &type, NULL) == 0;
	if (accepted && profile != 0)
		accepted = SUCCEEDED(IMFMediaType_SetUINT32(type, &MF_MT_MPEG2_PROFILE, profile));
	accepted = accepted && SUCCEEDED(IMFTransform_SetOutputType(transform, 0, type, flags));
	com_release(type);
	return accepted;
}

/* Adds to an offer what only the activated transform knows. If it cannot be activated, nothing is
 * added, and encoding will fail. */
static void ask_transform(const struct mediafoundation *mf, IMFActivate *activate,
			  struct video_offer *offer)
{
	static const struct video_size sizes[] = {{64, 64},	{192, 128},   {320, 240},
						  {1920, 1080}, {3840, 2160}, {7680, 4320}};
	/* The numbers of eAVEncH264VProfile, eAVEncH265VProfile and eAVEncAV1VProfile (codecapi.h). */
	static const struct {
		enum video_codec codec;
		UINT32 number;
		const char *name;
	} profiles[] = {
		{VIDEO_H264, 66, "baseline"}, {VIDEO_H264, 77, "main"},	 {VIDEO_H264, 100, "high"},
		{VIDEO_HEVC, 1, "main"},      {VIDEO_HEVC, 2, "main10"}, {VIDEO_AV1, 1, "main"},
	};
	const DWORD test = MFT_SET_TYPE_TEST_ONLY;
	IMFTransform *transform = NULL;
	IMFMediaEventGenerator *events = NULL;
	ICodecAPI *api = NULL;
	VARIANT least = {0}, most = {0}, step = {0};

	if (FAILED(IMFActivate_ActivateObject(activate, &IID_IMFTransform, (void **)&transform)))
		return;
	const bool unlocked = mediafoundation_unlock(transform, &events, NULL, NULL) == 0;
	for (size_t i = 0; unlocked && i < ARRAY_SIZE(sizes); i++) {
		if (!accepts(mf, transform, offer, &sizes[i], 0, test))
			continue;
		if (offer->least.width == 0)
			offer->least = sizes[i];
		offer->most = sizes[i];
	}
	for (size_t i = 0; offer->most.width != 0 && i < ARRAY_SIZE(profiles); i++) {
		if (profiles[i].codec == offer->codec &&
		    accepts(mf, transform, offer, &offer->most, profiles[i].number, test))
			video_offer_add_profile(offer, profiles[i].name);
	}
	if (offer->most.width != 0 && accepts(mf, transform, offer, &offer->least, 0, 0))
		offer->ten_bit = accepts_ten_bits(transform);

	if (SUCCEEDED(IMFTransform_QueryInterface(transform, &codec_api, (void **)&api))) {
		if (SUCCEEDED(ICodecAPI_GetParameterRange(api, &b_picture_count, &least, &most,
							  &step)) &&
		    most.vt == VT_UI4)
			offer->b_frames = (int)(most.ulVal & 0xFFu);
		com_release(api);
	}
	com_release(events);
	com_release(transform);
	(void)IMFActivate_ShutdownObject(activate);
}

/* Adds an encoder, and consumes it. One that has a link to its device is hardware; it is left out if it
 * names another vendor than the adapter's. */
static void add(struct mediafoundation *mf, struct video_offers *offers, enum video_codec codec,
		IMFActivate *activate, uint32_t vendor)
{
	char vendor_name[TEXT_MAX] = "", expected[16] = "";
	struct video_offer *offer = NULL;
	UINT32 length = 0;

	read_text(activate, &vendor_id, vendor_name, sizeof(vendor_name));
	(void)snprintf(expected, sizeof(expected), "VEN_%04X", (unsigned)vendor);
	const bool hardware = SUCCEEDED(
		IMFActivate_GetStringLength(activate, &MFT_ENUM_HARDWARE_URL_Attribute, &length));
	if (!hardware || vendor_name[0] == '\0' || strcmp(vendor_name, expected) == 0)
		offer = video_offer_add(offers, codec);
	if (offer == NULL) {
		com_release(activate);
		return;
	}
	offer->hardware = hardware;
	read_text(activate, &MFT_FRIENDLY_NAME_Attribute, offer->name, sizeof(offer->name));
	offer->id = mf->count;
	mf->activates[mf->count++] = activate;
	ask_transform(mf, activate, offer);
}

static int list_codec(struct mediafoundation *mf, const DXGI_ADAPTER_DESC1 *adapter,
		      enum video_codec codec, bool hardware, struct video_offers *offers,
		      struct error *err)
{
	const MFT_REGISTER_TYPE_INFO output = {MFMediaType_Video, *mediafoundation_subtypes[codec]};
	const UINT32 flags = MFT_ENUM_FLAG_SORTANDFILTER |
			     (hardware ? MFT_ENUM_FLAG_HARDWARE
				       : MFT_ENUM_FLAG_SYNCMFT | MFT_ENUM_FLAG_ASYNCMFT);
	IMFActivate **activates = NULL;
	IMFAttributes *attributes = NULL;
	HRESULT result = E_NOTIMPL;
	UINT32 count = 0;

	/* Hardware encoders are those of the adapter, where Windows can tell them apart. */
	if (hardware && mf->MFTEnum2 != NULL && SUCCEEDED(mf->MFCreateAttributes(&attributes, 1)) &&
	    SUCCEEDED(IMFAttributes_SetBlob(attributes, &adapter_luid,
					    (const UINT8 *)&adapter->AdapterLuid,
					    sizeof(adapter->AdapterLuid))))
		result = mf->MFTEnum2(MFT_CATEGORY_VIDEO_ENCODER, flags, NULL, &output, attributes,
				      &activates, &count);
	com_release(attributes);
	if (result == E_NOTIMPL)
		result = mf->MFTEnumEx(MFT_CATEGORY_VIDEO_ENCODER, flags, NULL, &output, &activates,
				       &count);
	int rc = hresult_check(result, "MFTEnumEx", NULL, err);
	for (UINT32 i = 0; rc == 0 && i < count; i++)
		add(mf, offers, codec, activates[i], adapter->VendorId);
	if (activates != NULL)
		mf->CoTaskMemFree(activates);
	return rc;
}

int mediafoundation_list(void *session, const struct work_request *request,
			 struct video_offers *offers, struct error *err)
{
	struct mediafoundation *mf = session;
	DXGI_ADAPTER_DESC1 adapter = {0};
	int rc = 0;

	(void)IDXGIAdapter1_GetDesc1(mf->dxgi.adapters[request->device], &adapter);
	for (int i = 0; rc == 0 && i < 2 * VIDEO_CODECS; i++)
		rc = list_codec(mf, &adapter, (enum video_codec)(i / 2), i % 2 == 0, offers, err);
	return rc;
}

void mediafoundation_forget(void *session)
{
	struct mediafoundation *mf = session;

	while (mf->count > 0)
		com_release(mf->activates[--mf->count]);
}

static int mediafoundation_work(void *session, const struct work_request *request,
				struct work_report *report, struct error *err)
{
	const struct mediafoundation *mf = session;
	cJSON *device CLEANUP_JSON = dxgi_describe(&mf->dxgi, request->device);
	const bool software = json_pointer_true(device, "/software");

	return video_work(&mediafoundation_encoder, session, software, request, report, err);
}

static int mediafoundation_open(struct api_report *report, void *session, struct error *err)
{
	struct mediafoundation *mf = session;
#define FUNCTION(name) {#name, &mf->name},
	const struct api_function mfplat[] = {MEDIAFOUNDATION_MFPLAT(FUNCTION){NULL, NULL}};
	const struct api_function ole32[] = {MEDIAFOUNDATION_OLE32(FUNCTION){NULL, NULL}};
#undef FUNCTION

	wine_name(report->emulator, sizeof(report->emulator));
	int rc = api_load(report, MEDIAFOUNDATION_LIBRARY, mfplat, err);
	if (rc == 0)
		rc = api_load(NULL, "ole32.dll", ole32, err);
	if (rc != 0)
		return rc;
	(void)api_find(MEDIAFOUNDATION_LIBRARY, "MFTEnum2", &mf->MFTEnum2);

	rc = hresult_check(mf->CoInitializeEx(NULL, MULTITHREADED), "CoInitializeEx", NULL, err);
	if (rc != 0)
		return rc;
	/* Editions of Windows without media features return E_NOTIMPL. */
	const HRESULT result = mf->MFStartup(MF_VERSION, MFSTARTUP_FULL);
	if (result == E_NOTIMPL) {
		report->missing = "Media Foundation";
		return error_set(err, ERROR_UNSUPPORTED,
				 "this Windows has no Media Foundation: MFStartup: E_NOTIMPL");
	}
	rc = hresult_check(result, "MFStartup", NULL, err);
	mf->started = rc == 0;
	return rc == 0 ? dxgi_open(report, &mf->dxgi, err) : rc;
}

static void mediafoundation_close(void *session)
{
	struct mediafoundation *mf = session;

	dxgi_close(&mf->dxgi);
	if (mf->started)
		(void)mf->MFShutdown();
}

const struct api_driver mediafoundation_api = {
	.name = "mediafoundation",
	.library = MEDIAFOUNDATION_LIBRARY,
	.summary = "Encode video with Media Foundation on a device and report what happened",
	.description =
		"Opens Media Foundation, lists the encoders of one adapter, and whether each is hardware or runs on a "
		"processor, and encodes moving frames with each codec. The streams are in the document, for verify-video.",
	.session_size = sizeof(struct mediafoundation),
	.open = mediafoundation_open,
	.work = mediafoundation_work,
	.close = mediafoundation_close,
};
