/* SPDX-License-Identifier: MIT */
/*
 * A oneVPL implementation, loaded by the real dispatcher, that encodes H.264 without loss (h264_pcm.h)
 * in at most 64 by 64. Words in addition to those of settings.h and h264_pcm.h:
 *
 *   software   it reports that it is an implementation in software
 *   partial    a processor stands in for the device
 *   no-id      it does not report which device it works on
 *   pci-unknown  it knows no PCI address, like those of Gen8 to Gen11
 *   late       frames are returned only after the last one was submitted
 *   adjusts    it changes parameters, which is a warning
 *   overfull   it reports more bytes than there is room for
 *   hevc       it reports HEVC, too, and refuses it
 *   no-codec   it encodes nothing
 */
#include "workloads/doubles/h264_pcm.h"
#include "workloads/doubles/settings.h"

#define ONEVPL_EXPERIMENTAL
#include <vpl/mfx.h>

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SIDE = 64, DEVICES_MAX = 4 };

#define ENTER(name)                                                                                \
	do {                                                                                       \
		const int code_ = setting_enter(name);                                             \
		if (code_ != 0)                                                                    \
			return (mfxStatus)code_;                                                   \
	} while (0)

struct _mfxSession {
	struct h264_pcm writer;
	struct text waiting[VIDEO_FRAMES];
	size_t put, got;
	bool initialised;
	mfxBitstream *into;
};

static mfxU32 formats[] = {MFX_FOURCC_NV12, MFX_FOURCC_P010};
static struct encmemdesc memory = {
	.MemHandleType = MFX_RESOURCE_SYSTEM_SURFACE,
	.Width = {16, SIDE, 16},
	.Height = {16, SIDE, 16},
	.NumColorFormats = 1,
	.ColorFormats = formats,
};
static struct encmemdesc memory_of_ten = {
	.MemHandleType = MFX_RESOURCE_SYSTEM_SURFACE,
	.Width = {16, SIDE, 16},
	.Height = {16, SIDE, 16},
	.NumColorFormats = 2,
	.ColorFormats = formats,
};
static struct encprofile profiles[] = {
	{.Profile = MFX_PROFILE_AVC_MAIN, .NumMemTypes = 1, .MemDesc = &memory},
	{.Profile = MFX_PROFILE_AVC_HIGH, .NumMemTypes = 1, .MemDesc = &memory},
};
static struct encprofile profiles_of_hevc[] = {
	{.Profile = MFX_PROFILE_HEVC_MAIN10, .NumMemTypes = 1, .MemDesc = &memory_of_ten},
};
static struct encoder codecs[] = {
	{.CodecID = MFX_CODEC_AVC, .NumProfiles = 2, .Profiles = profiles},
	{.CodecID = MFX_CODEC_HEVC,
	 .BiDirectionalPrediction = 1,
	 .NumProfiles = 1,
	 .Profiles = profiles_of_hevc},
};
static mfxAccelerationMode modes[] = {MFX_ACCEL_MODE_VIA_VAAPI};
static mfxImplDescription descriptions[DEVICES_MAX];
static mfxExtendedDeviceId ids[DEVICES_MAX];

static void describe(size_t i)
{
	descriptions[i] = (mfxImplDescription){
		.Version.Version = MFX_IMPLDESCRIPTION_VERSION,
		.Impl = setting_has("software") ? MFX_IMPL_TYPE_SOFTWARE : MFX_IMPL_TYPE_HARDWARE,
		.AccelerationMode = MFX_ACCEL_MODE_VIA_VAAPI,
		.ApiVersion = {{.Major = MFX_VERSION_MAJOR, .Minor = MFX_VERSION_MINOR}},
		.ImplName = "gpucert double",
		.License = "MIT",
		.VendorID = 0x8086,
		.Dev = {.Version.Version = MFX_DEVICEDESCRIPTION_VERSION, .DeviceID = "56a0/0"},
		.Enc = {.Version.Version = MFX_ENCODERDESCRIPTION_VERSION,
			.NumCodecs = setting_has("no-codec") ? 0
				     : setting_has("hevc")   ? 2
							     : 1,
			.Codecs = codecs},
		.AccelerationModeDescription = {.Version.Version =
							MFX_ACCELERATIONMODESCRIPTION_VERSION,
						.NumAccelerationModes = 1,
						.Mode = modes},
	};
	ids[i] = (mfxExtendedDeviceId){
		.Version.Version = MFX_EXTENDEDDEVICEID_VERSION,
		.VendorID = 0x8086,
		.DeviceID = 0x56a0,
		.PCIDomain = (mfxU32)setting_number("pci-domain", 0),
		.PCIBus = (mfxU32)(setting_number("pci-bus", 3) + i),
		.DRMRenderNodeNum = (mfxU32)(setting_number("render", 190) + i),
		.DRMPrimaryNodeNum = 0x7FFFFFFF,
		.DeviceName = "double",
	};
	if (setting_has("pci-unknown"))
		ids[i].PCIDomain = ids[i].PCIBus = ids[i].PCIDevice = ids[i].PCIFunction =
			UINT32_MAX;
}

EXPORT mfxHDL *MFX_CDECL MFXQueryImplsDescription(mfxImplCapsDeliveryFormat format,
						  mfxU32 *num_impls);
mfxHDL *MFX_CDECL MFXQueryImplsDescription(mfxImplCapsDeliveryFormat format, mfxU32 *num_impls)
{
	static mfxHDL all_descriptions[DEVICES_MAX], all_ids[DEVICES_MAX];
	const bool plain = format == MFX_IMPLCAPS_IMPLDESCSTRUCTURE;
	const size_t devices = setting_number("devices", 1);
	if (setting_enter("MFXQueryImplsDescription") != 0 || devices > DEVICES_MAX ||
	    (!plain && (format != MFX_IMPLCAPS_DEVICE_ID_EXTENDED || setting_has("no-id"))))
		return NULL;
	for (size_t i = 0; i < devices; i++) {
		describe(i);
		all_descriptions[i] = &descriptions[i];
		all_ids[i] = &ids[i];
	}
	*num_impls = (mfxU32)devices;
	return plain ? all_descriptions : all_ids;
}

EXPORT mfxStatus MFX_CDECL MFXReleaseImplDescription(mfxHDL hdl);
mfxStatus MFX_CDECL MFXReleaseImplDescription(mfxHDL hdl)
{
	(void)hdl;
	return MFX_ERR_NONE;
}

EXPORT mfxStatus MFX_CDECL MFXInitialize(mfxInitializationParam par, mfxSession *session)
{
	ENTER("MFXInitialize");
	(void)par;
	*session = calloc(1, sizeof(**session));
	return *session != NULL ? MFX_ERR_NONE : MFX_ERR_MEMORY_ALLOC;
}

EXPORT mfxStatus MFX_CDECL MFXClose(mfxSession session)
{
	if (session == NULL) /* the dispatcher's, if MFXInitialize failed */
		return MFX_ERR_INVALID_HANDLE;
	for (size_t i = 0; i < VIDEO_FRAMES; i++)
		text_free(&session->waiting[i]);
	h264_pcm_free(&session->writer);
	free(session);
	return MFX_ERR_NONE;
}

EXPORT mfxStatus MFX_CDECL MFXQueryVersion(mfxSession session, mfxVersion *version)
{
	(void)session;
	*version = (mfxVersion){{.Major = MFX_VERSION_MAJOR, .Minor = MFX_VERSION_MINOR}};
	return MFX_ERR_NONE;
}

EXPORT mfxStatus MFX_CDECL MFXQueryIMPL(mfxSession session, mfxIMPL *impl)
{
	(void)session;
	*impl = MFX_IMPL_HARDWARE;
	return MFX_ERR_NONE;
}

EXPORT mfxStatus MFX_CDECL MFXVideoCORE_SetHandle(mfxSession session, mfxHandleType type,
						  mfxHDL hdl)
{
	(void)session;
	return type == MFX_HANDLE_VA_DISPLAY && hdl != NULL ? MFX_ERR_NONE : MFX_ERR_INVALID_HANDLE;
}

EXPORT mfxStatus MFX_CDECL MFXVideoENCODE_Query(mfxSession session, mfxVideoParam *in,
						mfxVideoParam *out)
{
	ENTER("MFXVideoENCODE_Query");
	(void)session;
	if (in->mfx.CodecId != MFX_CODEC_AVC)
		return MFX_ERR_UNSUPPORTED;
	*out = *in;
	if (setting_has("partial"))
		return MFX_WRN_PARTIAL_ACCELERATION;
	return setting_has("adjusts") ? MFX_WRN_INCOMPATIBLE_VIDEO_PARAM : MFX_ERR_NONE;
}

EXPORT mfxStatus MFX_CDECL MFXVideoENCODE_Init(mfxSession session, mfxVideoParam *par)
{
	ENTER("MFXVideoENCODE_Init");
	const mfxFrameInfo *frame = &par->mfx.FrameInfo;
	if (par->IOPattern != MFX_IOPATTERN_IN_SYSTEM_MEMORY || par->mfx.TargetKbps != 800 ||
	    par->mfx.RateControlMethod != MFX_RATECONTROL_CBR || frame->FourCC != MFX_FOURCC_NV12 ||
	    frame->ChromaFormat != MFX_CHROMAFORMAT_YUV420 || frame->Width != SIDE ||
	    frame->Height != SIDE || frame->FrameRateExtN != 30 || frame->FrameRateExtD != 1 ||
	    frame->PicStruct != MFX_PICSTRUCT_PROGRESSIVE)
		return MFX_ERR_INVALID_VIDEO_PARAM;
	session->writer.source = (struct video_source){.width = SIDE, .height = SIDE};
	session->initialised = true;
	return MFX_ERR_NONE;
}

EXPORT mfxStatus MFX_CDECL MFXVideoENCODE_Close(mfxSession session)
{
	return session->initialised ? MFX_ERR_NONE : MFX_ERR_NOT_INITIALIZED;
}

EXPORT mfxStatus MFX_CDECL MFXVideoENCODE_EncodeFrameAsync(mfxSession session, mfxEncodeCtrl *ctrl,
							   mfxFrameSurface1 *surface,
							   mfxBitstream *bs, mfxSyncPoint *syncp)
{
	ENTER("MFXVideoENCODE_EncodeFrameAsync");
	(void)ctrl;
	if (!session->initialised || session->into != NULL)
		return MFX_ERR_UNDEFINED_BEHAVIOR;
	if (surface != NULL && session->put < VIDEO_FRAMES) {
		const struct video_planes planes = {
			{surface->Data.Y, surface->Data.UV},
			{surface->Data.Pitch, surface->Data.Pitch},
		};
		h264_pcm_add(&session->writer, VIDEO_NV12, &planes,
			     &session->waiting[session->put++]);
	}
	if (session->got == session->put || (surface != NULL && setting_has("late")))
		return MFX_ERR_MORE_DATA;
	session->into = bs;
	*syncp = (mfxSyncPoint)(void *)session;
	return MFX_ERR_NONE;
}

EXPORT mfxStatus MFX_CDECL MFXVideoCORE_SyncOperation(mfxSession session, mfxSyncPoint syncp,
						      mfxU32 wait)
{
	ENTER("MFXVideoCORE_SyncOperation");
	(void)wait;
	mfxBitstream *into = session->into;
	const struct text *from = &session->waiting[session->got];
	if (setting_has("hang"))
		return MFX_WRN_IN_EXECUTION;
	if (into == NULL || syncp != (mfxSyncPoint)(void *)session)
		return MFX_ERR_NULL_PTR;
	if (into->DataOffset + into->DataLength + from->size > into->MaxLength)
		return MFX_ERR_NOT_ENOUGH_BUFFER;
	if (from->size > 0)
		memcpy(into->Data + into->DataOffset + into->DataLength, from->data, from->size);
	into->DataLength += setting_has("overfull") ? into->MaxLength + 1 : (mfxU32)from->size;
	session->into = NULL;
	session->got++;
	return MFX_ERR_NONE;
}
