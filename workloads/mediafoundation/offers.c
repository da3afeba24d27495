/* SPDX-License-Identifier: MIT */
/* Which encoders an adapter has, and what they say that they can. Names alone prove nothing: Wine
 * lists an encoder that cannot be activated when its library is missing. */
#include "workloads/mediafoundation/mediafoundation.h"

#include "base/cleanup.h"
#include "base/utf16.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* mftransform.h and codecapi.h of newer Windows SDKs. */
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
	uint16_t units[TEXT_MAX] = {0};
	UINT32 length = 0;
	out[0] = '\0';
	if (FAILED(IMFActivate_GetString(activate, key, wide, TEXT_MAX, &length)))
		return;
	length = (UINT32)wcsnlen(wide, TEXT_MAX);
	memcpy(units, wide, length * sizeof(*units));
	char *text CLEANUP_FREE = utf16_to_utf8(units, length);
	(void)snprintf(out, size, "%s", text != NULL ? text : "");
}

/* Of a transform that has its output type: are there samples of 10 bits that it takes? */
static int takes_ten_bits(IMFTransform *transform)
{
	for (DWORD i = 0; i < TYPES_MAX; i++) {
		IMFMediaType *type = NULL;
		GUID subtype = {0};
		if (FAILED(IMFTransform_GetInputAvailableType(transform, 0, i, &type)))
			return i == 0 ? VIDEO_NOT_TOLD : 0;
		(void)IMFMediaType_GetGUID(type, &MF_MT_SUBTYPE, &subtype);
		com_release(type);
		if (IsEqualGUID(&subtype, &MFVideoFormat_P010))
			return 1;
	}
	return 0;
}

static int most_b_frames(IMFTransform *transform)
{
	ICodecAPI *api = NULL;
	VARIANT least = {0}, most = {0}, step = {0};
	int frames = VIDEO_NOT_TOLD;
	if (FAILED(IMFTransform_QueryInterface(transform, &codec_api, (void **)&api)))
		return frames;
	if (SUCCEEDED(ICodecAPI_GetParameterRange(api, &b_picture_count, &least, &most, &step)) &&
	    most.vt == VT_UI4)
		frames = (int)(most.ulVal & 0xFFu);
	com_release(api);
	return frames;
}

/* A transform tells no limits; it says of a type whether it would take it. Profile 0: any. */
static bool takes(const struct mediafoundation *mf, IMFTransform *transform, enum video_codec codec,
		  const struct video_size *size, UINT32 profile)
{
	const struct video_source source = {.width = size->width, .height = size->height};
	IMFMediaType *type = NULL;
	bool taken = mediafoundation_output_type(mf, codec, &source, &type, NULL) == 0;
	if (taken && profile != 0)
		taken = SUCCEEDED(IMFMediaType_SetUINT32(type, &MF_MT_MPEG2_PROFILE, profile));
	taken = taken &&
		SUCCEEDED(IMFTransform_SetOutputType(transform, 0, type, MFT_SET_TYPE_TEST_ONLY));
	com_release(type);
	return taken;
}

static void try_sizes(const struct mediafoundation *mf, IMFTransform *transform,
		      struct video_offer *offer)
{
	static const struct video_size sizes[] = {{64, 64},	{192, 128},   {320, 240},
						  {1920, 1080}, {3840, 2160}, {7680, 4320}};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (!takes(mf, transform, offer->codec, &sizes[i], 0))
			continue;
		if (offer->least.width == 0)
			offer->least = sizes[i];
		offer->most = sizes[i];
	}
}

/* The numbers are those of eAVEncH264VProfile, eAVEncH265VProfile and eAVEncAV1VProfile (codecapi.h). */
static void try_profiles(const struct mediafoundation *mf, IMFTransform *transform,
			 struct video_offer *offer)
{
	static const struct {
		enum video_codec codec;
		UINT32 profile;
		const char *name;
	} profiles[] = {
		{VIDEO_H264, 66, "baseline"}, {VIDEO_H264, 77, "main"},	 {VIDEO_H264, 100, "high"},
		{VIDEO_HEVC, 1, "main"},      {VIDEO_HEVC, 2, "main10"}, {VIDEO_AV1, 1, "main"},
	};
	size_t length = 0;
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (profiles[i].codec != offer->codec ||
		    !takes(mf, transform, offer->codec, &offer->most, profiles[i].profile))
			continue;
		length +=
			(size_t)snprintf(offer->profiles + length, sizeof(offer->profiles) - length,
					 "%s%s", length == 0 ? "" : " ", profiles[i].name);
	}
}

/* What only a transform tells. An encoder that cannot be activated tells nothing here, and fails when
 * it is to encode. */
static void ask_transform(const struct mediafoundation *mf, IMFActivate *activate,
			  struct video_offer *offer)
{
	struct video_source source = {0};
	IMFTransform *transform = NULL;
	IMFMediaType *output = NULL;
	bool asynchronous = false;
	if (FAILED(IMFActivate_ActivateObject(activate, &IID_IMFTransform, (void **)&transform)))
		return;
	if (mediafoundation_unlock(transform, &asynchronous, NULL, NULL) == 0)
		try_sizes(mf, transform, offer);
	if (offer->most.width != 0)
		try_profiles(mf, transform, offer);
	source.width = offer->least.width;
	source.height = offer->least.height;
	if (source.width != 0 &&
	    mediafoundation_output_type(mf, offer->codec, &source, &output, NULL) == 0 &&
	    SUCCEEDED(IMFTransform_SetOutputType(transform, 0, output, 0)))
		offer->ten_bit = takes_ten_bits(transform);
	offer->b_frames = most_b_frames(transform);
	com_release(output);
	com_release(transform);
	(void)IMFActivate_ShutdownObject(activate);
}

/* An encoder in hardware has a link to its device; where it names a vendor, that is the adapter's. */
static void add(struct mediafoundation *mf, struct video_offers *offers, enum video_codec codec,
		IMFActivate *activate, uint32_t vendor)
{
	char link[TEXT_MAX] = "", told[TEXT_MAX] = "", wanted[16] = "";
	UINT32 length = 0;
	read_text(activate, &vendor_id, told, sizeof(told));
	(void)snprintf(wanted, sizeof(wanted), "VEN_%04X", (unsigned)vendor);
	read_text(activate, &MFT_ENUM_HARDWARE_URL_Attribute, link, sizeof(link));
	const bool hardware = SUCCEEDED(
		IMFActivate_GetStringLength(activate, &MFT_ENUM_HARDWARE_URL_Attribute, &length));
	struct video_offer *offer = !hardware || told[0] == '\0' || strcmp(told, wanted) == 0
					    ? video_offer_add(offers, codec)
					    : NULL;
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

/* Encoders in hardware are those of the adapter, where Windows can tell them apart. */
static HRESULT enumerate(struct mediafoundation *mf, const DXGI_ADAPTER_DESC1 *adapter,
			 const MFT_REGISTER_TYPE_INFO *output, bool hardware,
			 IMFActivate ***activates, UINT32 *count)
{
	const UINT32 flags = MFT_ENUM_FLAG_SORTANDFILTER |
			     (hardware ? MFT_ENUM_FLAG_HARDWARE
				       : MFT_ENUM_FLAG_SYNCMFT | MFT_ENUM_FLAG_ASYNCMFT);
	IMFAttributes *attributes = NULL;
	HRESULT result = E_NOTIMPL;
	if (hardware && mf->calls.enumerate_of != NULL &&
	    SUCCEEDED(mf->calls.create_attributes(&attributes, 1)) &&
	    SUCCEEDED(IMFAttributes_SetBlob(attributes, &adapter_luid,
					    (const UINT8 *)&adapter->AdapterLuid,
					    sizeof(adapter->AdapterLuid))))
		result = mf->calls.enumerate_of(MFT_CATEGORY_VIDEO_ENCODER, flags, NULL, output,
						attributes, activates, count);
	com_release(attributes);
	return result == E_NOTIMPL ? mf->calls.enumerate(MFT_CATEGORY_VIDEO_ENCODER, flags, NULL,
							 output, activates, count)
				   : result;
}

static int list_codec(struct mediafoundation *mf, const DXGI_ADAPTER_DESC1 *adapter,
		      enum video_codec codec, bool hardware, struct video_offers *offers,
		      struct error *err)
{
	const MFT_REGISTER_TYPE_INFO output = {MFMediaType_Video, *mediafoundation_subtype(codec)};
	IMFActivate **activates = NULL;
	UINT32 count = 0;
	int rc = hresult_check(enumerate(mf, adapter, &output, hardware, &activates, &count),
			       "MFTEnumEx", NULL, err);
	for (UINT32 i = 0; rc == 0 && i < count; i++)
		add(mf, offers, codec, activates[i], adapter->VendorId);
	if (activates != NULL)
		mf->calls.free_memory(activates);
	return rc;
}

int mediafoundation_list(void *session, const struct work_request *request,
			 struct video_offers *offers, struct error *err)
{
	struct mediafoundation *mf = session;
	DXGI_ADAPTER_DESC1 adapter = {0};
	(void)IDXGIAdapter1_GetDesc1(mf->dxgi->adapters[request->device], &adapter);
	for (int codec = 0; codec < VIDEO_CODECS; codec++) {
		int rc = list_codec(mf, &adapter, (enum video_codec)codec, true, offers, err);
		if (rc == 0)
			rc = list_codec(mf, &adapter, (enum video_codec)codec, false, offers, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

void mediafoundation_forget(struct mediafoundation *mf)
{
	while (mf->count > 0)
		com_release(mf->activates[--mf->count]);
}
