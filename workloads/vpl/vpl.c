/* SPDX-License-Identifier: MIT */
/* oneVPL: the dispatcher (libvpl.so.2), and the hardware implementations that it finds. A stream is
 * made from frames in the memory of the process. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ONEVPL_EXPERIMENTAL
#define ONEVPL_EXPERIMENTAL /* mfxExtendedDeviceId */
#endif
#include <vpl/mfx.h>

enum { DRM_MAJOR = 226, DEVICES_MAX = 64, WAIT_MS = 10, BALANCED = 4, FIRST_NODE = 128 };

#define VPL_LIBRARY "libvpl.so.2"

/* An implementation in hardware: one for each device. */
struct vpl_device {
	mfxU32 index; /* of the dispatcher */
	struct video_offers offers;
	mfxU32 render_node; /* 128 is /dev/dri/renderD128; 0: unknown */
};

struct vpl {
#define X LIBRARY_FUNCTION
#include "workloads/vpl/functions.h" /* those that this folder calls */
#undef X
	mfxLoader loader;
	struct vpl_device devices[DEVICES_MAX];
	size_t count;
	size_t software; /* implementations that are left out */
};

static const mfxU32 codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = MFX_CODEC_AVC,
	[VIDEO_HEVC] = MFX_CODEC_HEVC,
	[VIDEO_AV1] = MFX_CODEC_AV1,
};

static const struct {
	mfxU32 codec, profile;
	const char *name;
} profile_names[] = {
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_CONSTRAINED_BASELINE, "constrained-baseline"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_BASELINE, "baseline"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_MAIN, "main"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_HIGH, "high"},
	{MFX_CODEC_HEVC, MFX_PROFILE_HEVC_MAIN, "main"},
	{MFX_CODEC_HEVC, MFX_PROFILE_HEVC_MAIN10, "main10"},
	{MFX_CODEC_AV1, MFX_PROFILE_AV1_MAIN, "main"},
};

static const struct code_advice codes[] = {
#include "workloads/vpl/codes.h" /* generated from the specification's header */
};

/* 0 for success; otherwise keeps call and code and returns ERROR_REMOTE. */
static int check(struct call_failure *failure, mfxStatus status, const char *call,
		 struct error *err)
{
	if (status == MFX_ERR_NONE)
		return 0;
	return call_failed_advised(failure, call, (int)status, codes, ARRAY_SIZE(codes), err);
}

/* Takes the size of frames of 8 bits in NV12, and whether there are any of 10 bits. */
static void add_memory(struct video_offer *offer, const struct encmemdesc *memory)
{
	for (size_t i = 0; memory->ColorFormats != NULL && i < memory->NumColorFormats; i++) {
		if (memory->ColorFormats[i] == MFX_FOURCC_P010)
			offer->ten_bit = 1;
		if (memory->ColorFormats[i] != MFX_FOURCC_NV12 || offer->most.width != 0)
			continue;
		offer->least = (struct video_size){memory->Width.Min, memory->Height.Min};
		offer->most = (struct video_size){memory->Width.Max, memory->Height.Max};
	}
}

static void add_offer(const struct encoder *description, const char *name, enum video_codec codec,
		      struct video_offers *offers)
{
	struct video_offer *offer = video_offer_add(offers, codec);

	if (offer == NULL)
		return;
	(void)snprintf(offer->name, sizeof(offer->name), "%s", name);
	offer->hardware = true;
	offer->ten_bit = 0;
	if (!description->BiDirectionalPrediction)
		offer->b_frames = 0;
	for (size_t i = 0; description->Profiles != NULL && i < description->NumProfiles; i++) {
		const struct encprofile *profile = &description->Profiles[i];

		for (size_t j = 0; j < ARRAY_SIZE(profile_names); j++) {
			if (profile_names[j].codec == codecs[codec] &&
			    profile_names[j].profile == profile->Profile)
				video_offer_add_profile(offer, profile_names[j].name);
		}
		for (size_t j = 0; profile->MemDesc != NULL && j < profile->NumMemTypes; j++)
			add_memory(offer, &profile->MemDesc[j]);
	}
}

static cJSON *describe(const struct vpl *vpl, const mfxImplDescription *implementation,
		       const mfxExtendedDeviceId *id)
{
	struct members device CLEANUP_MEMBERS = api_device_new(vpl->count);

	member_text(&device, "name", implementation->ImplName, sizeof(implementation->ImplName));
	member_bool(&device, "software", false);
	if (id != NULL) {
		api_add_ids(&device, id->VendorID, id->DeviceID);
		member_bytes(&device, "deviceLuid", id->LUIDValid == 1 ? id->DeviceLUID : NULL,
			     sizeof(id->DeviceLUID));
		api_add_pci_address(&device, id->PCIDomain, id->PCIBus, id->PCIDevice,
				    id->PCIFunction);
		if (id->DRMRenderNodeNum != 0)
			api_add_drm(&device, (struct api_node){0},
				    (struct api_node){true, DRM_MAJOR, id->DRMRenderNodeNum});
	}
	member_format(&device, "apiVersion", "%u.%u", implementation->ApiVersion.Major,
		      implementation->ApiVersion.Minor);
	return members_take(&device);
}

static void add_device(struct vpl *vpl, mfxU32 index, const mfxImplDescription *implementation,
		       struct api_report *report)
{
	struct vpl_device *device = &vpl->devices[vpl->count];
	const mfxEncoderDescription *encoders = &implementation->Enc;
	char name[sizeof(implementation->ImplName) + 1] = "";
	mfxHDL found = NULL;

	memcpy(name, implementation->ImplName, sizeof(implementation->ImplName));
	if (implementation->Impl != MFX_IMPL_TYPE_HARDWARE) {
		vpl->software++;
		api_report_message(report, "an implementation in software is left out");
		return;
	}

	/* Implementations before API 2.6 have no extended id. */
	const mfxExtendedDeviceId *id = NULL;
	if (vpl->MFXEnumImplementations(vpl->loader, index, MFX_IMPLCAPS_DEVICE_ID_EXTENDED,
					&found) == MFX_ERR_NONE)
		id = found;
	device->index = index;
	device->render_node = id != NULL ? id->DRMRenderNodeNum : 0;
	for (int codec = 0; codec < VIDEO_CODECS; codec++) {
		for (size_t i = 0; encoders->Codecs != NULL && i < encoders->NumCodecs; i++) {
			if (encoders->Codecs[i].CodecID == codecs[codec])
				add_offer(&encoders->Codecs[i], name, (enum video_codec)codec,
					  &device->offers);
		}
	}
	api_report_device(report, describe(vpl, implementation, id));
	if (id != NULL)
		(void)vpl->MFXDispReleaseImplDescription(vpl->loader, found);
	vpl->count++;
}

static int vpl_open(struct api_report *report, void *session, struct error *err)
{
	struct vpl *vpl = session;
#define X(name) {#name, &vpl->name},
	const struct api_function functions[] = {
#include "workloads/vpl/functions.h"
		{NULL, NULL}};
#undef X

	int rc = api_load(report, VPL_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	report->missing = "oneVPL runtime";
	vpl->loader = vpl->MFXLoad();
	if (vpl->loader == NULL)
		return error_set(err, ERROR_REMOTE, "MFXLoad: no loader");

	/* The dispatcher silently skips implementations that it cannot load. */
	mfxStatus status = MFX_ERR_NONE;
	for (mfxU32 i = 0; i < DEVICES_MAX; i++) {
		mfxHDL implementation = NULL;

		status = vpl->MFXEnumImplementations(vpl->loader, i, MFX_IMPLCAPS_IMPLDESCSTRUCTURE,
						     &implementation);
		if (status != MFX_ERR_NONE || implementation == NULL)
			break;
		add_device(vpl, i, implementation, report);
		(void)vpl->MFXDispReleaseImplDescription(vpl->loader, implementation);
	}
	if (vpl->count > 0)
		return 0;
	if (vpl->software > 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the oneVPL dispatcher found only implementations in software");
	if (status == MFX_ERR_NOT_FOUND || status == MFX_ERR_NONE)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"the oneVPL dispatcher found no implementation that it can use "
			"(MFXEnumImplementations: MFX_ERR_NOT_FOUND (-9)): the runtime of the "
			"device's driver, or a function or library that it needs, is missing");
	return check(NULL, status, "MFXEnumImplementations", err);
}

static void vpl_close(void *session)
{
	struct vpl *vpl = session;

	if (vpl->loader != NULL)
		vpl->MFXUnload(vpl->loader);
}

struct encoder_state {
	const struct vpl *vpl;
	const struct video_job *job;
	struct api_report report; /* of VA-API */
	void *vaapi;		  /* its session; may be NULL */
	mfxSession session;
	mfxVideoParam parameters;
	mfxExtAV1BitstreamParam av1;
	mfxExtBuffer *extension;
	bool initialised, draining, drained;
	mfxFrameSurface1 surfaces[VIDEO_FRAMES]; /* the encoder may hold any until the end */
	mfxBitstream stream;
	mfxSyncPoint pending; /* NULL: none */
};

static void set_parameters(struct encoder_state *e)
{
	const struct video_source *source = &e->job->source;
	mfxVideoParam *to = &e->parameters;

	to->AsyncDepth = 1;
	to->IOPattern = MFX_IOPATTERN_IN_SYSTEM_MEMORY;
	to->mfx.CodecId = codecs[e->job->offer->codec];
	to->mfx.TargetUsage = BALANCED;
	to->mfx.RateControlMethod = MFX_RATECONTROL_CBR;
	to->mfx.TargetKbps = VIDEO_BIT_RATE / 1000;
	to->mfx.GopPicSize = VIDEO_FRAMES;
	to->mfx.GopRefDist = 1; /* no B frames */
	to->mfx.FrameInfo.FourCC = MFX_FOURCC_NV12;
	to->mfx.FrameInfo.ChromaFormat = MFX_CHROMAFORMAT_YUV420;
	to->mfx.FrameInfo.PicStruct = MFX_PICSTRUCT_PROGRESSIVE;
	to->mfx.FrameInfo.Width = to->mfx.FrameInfo.CropW = (mfxU16)source->width;
	to->mfx.FrameInfo.Height = to->mfx.FrameInfo.CropH = (mfxU16)source->height;
	to->mfx.FrameInfo.FrameRateExtN = VIDEO_RATE;
	to->mfx.FrameInfo.FrameRateExtD = 1;
	if (e->job->offer->codec != VIDEO_AV1)
		return;
	e->av1.Header.BufferId = MFX_EXTBUFF_AV1_BITSTREAM_PARAM;
	e->av1.Header.BufferSz = sizeof(e->av1);
	e->av1.WriteIVFHeaders = MFX_CODINGOPTION_OFF;
	e->extension = &e->av1.Header;
	to->ExtParam = &e->extension;
	to->NumExtParam = 1;
}

/* Warnings are harmless (the encoder changed parameters), except the one that a processor does the
 * work. */
static int check_encoder(struct encoder_state *e, mfxStatus status, const char *call,
			 struct error *err)
{
	if (status > MFX_ERR_NONE && status != MFX_WRN_PARTIAL_ACCELERATION)
		return 0;
	int rc = check(e->job->failure, status, call, err);
	if (status == MFX_ERR_UNSUPPORTED)
		return error_set(err, ERROR_UNSUPPORTED, "%s: MFX_ERR_UNSUPPORTED (-3)", call);
	return rc;
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct encoder_state *e = encoder;
	mfxVideoParam *parameters = &e->parameters;
	const struct vpl *vpl = e->vpl = session;
	const struct vpl_device *device = &vpl->devices[job->request->device];

	e->job = job;
	int rc = check(job->failure, vpl->MFXCreateSession(vpl->loader, device->index, &e->session),
		       "MFXCreateSession", err);
	if (rc != 0) {
		e->session = NULL; /* the dispatcher leaves a dangling pointer */
		return rc;
	}
	e->stream.MaxLength = (mfxU32)(2 * video_frame_size(&job->source) + 65536);
	e->stream.Data = memory_allocate(e->stream.MaxLength, 1);

	/* Implementations on Linux work on a VA-API display of the caller, or have to do without. */
	const unsigned minor = device->render_node != 0 ? device->render_node : FIRST_NODE;
	api_open(&vaapi_api, &e->report, &e->vaapi);
	const struct vaapi *va = e->vaapi;
	for (size_t i = 0; va != NULL && i < va->count; i++) {
		if (va->nodes[i].minor == minor && va->nodes[i].reason.code == 0)
			(void)vpl->MFXVideoCORE_SetHandle(e->session, MFX_HANDLE_VA_DISPLAY,
							  va->nodes[i].display);
	}

	set_parameters(e);
	rc = check_encoder(e, vpl->MFXVideoENCODE_Query(e->session, parameters, parameters),
			   "MFXVideoENCODE_Query", err);
	if (rc == 0)
		rc = check_encoder(e, vpl->MFXVideoENCODE_Init(e->session, parameters),
				   "MFXVideoENCODE_Init", err);
	e->initialised = rc == 0;
	return rc;
}

/* Submits a frame, or NULL to get frames that were held back. */
static int submit(struct encoder_state *e, mfxFrameSurface1 *surface, struct error *err)
{
	const mfxStatus status = e->vpl->MFXVideoENCODE_EncodeFrameAsync(e->session, NULL, surface,
									 &e->stream, &e->pending);
	if (status == MFX_WRN_DEVICE_BUSY)
		return error_set(err, ERROR_BUSY, "the device is busy");
	if (status == MFX_ERR_MORE_DATA) { /* it holds the frame back, or has no more output */
		e->pending = NULL;
		e->drained = surface == NULL;
		return 0;
	}
	if (status > MFX_ERR_NONE)
		return 0;
	return check(e->job->failure, status, "MFXVideoENCODE_EncodeFrameAsync", err);
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder_state *e = encoder;

	e->draining = frame == NULL;
	if (e->draining)
		return 0;
	if (e->pending != NULL)
		return error_set(err, ERROR_BUSY, "the encoder is coding a frame");
	e->surfaces[index].Info = e->parameters.mfx.FrameInfo;
	e->surfaces[index].Data = (mfxFrameData){
		.Y = frame->data[0],
		.UV = frame->data[1],
		.Pitch = (mfxU16)frame->pitch[0],
		.TimeStamp = (mfxU64)index * 90000 / VIDEO_RATE,
		.FrameOrder = index,
	};
	return submit(e, &e->surfaces[index], err);
}

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct encoder_state *e = encoder;
	mfxBitstream *from = &e->stream;

	if (e->pending == NULL && e->draining && !e->drained) {
		int rc = submit(e, NULL, err);
		if (rc != 0)
			return rc;
	}
	*ended = e->drained;
	if (e->pending == NULL)
		return e->drained ? 0 : error_set(err, ERROR_BUSY, "the encoder needs a frame");
	const mfxStatus status =
		e->vpl->MFXVideoCORE_SyncOperation(e->session, e->pending, WAIT_MS);
	if (status == MFX_WRN_IN_EXECUTION)
		return error_set(err, ERROR_BUSY, "the frame is not coded yet");
	int rc = check(e->job->failure, status, "MFXVideoCORE_SyncOperation", err);
	if (rc != 0)
		return rc;

	if ((uint64_t)from->DataOffset + from->DataLength > from->MaxLength)
		return error_set(err, ERROR_FORMAT,
				 "the encoder says that it wrote %u bytes at %u of %u",
				 (unsigned)from->DataLength, (unsigned)from->DataOffset,
				 (unsigned)from->MaxLength);
	text_append(stream, (const char *)from->Data + from->DataOffset, from->DataLength);
	from->DataOffset = from->DataLength = 0;
	e->pending = NULL;
	return 0;
}

static void close_encoder(void *encoder)
{
	struct encoder_state *e = encoder;

	if (e->initialised)
		(void)e->vpl->MFXVideoENCODE_Close(e->session);
	if (e->session != NULL)
		(void)e->vpl->MFXClose(e->session);
	api_close(&vaapi_api, e->vaapi);
	api_report_free(&e->report);
	free(e->stream.Data);
}

static int list(void *session, const struct work_request *request, struct video_offers *offers,
		struct error *err)
{
	const struct vpl *vpl = session;
	(void)err;

	*offers = vpl->devices[request->device].offers;
	return 0;
}

static const struct video_encoder encoder = {
	.layout = VIDEO_NV12,
	.list = list,
	.size = sizeof(struct encoder_state),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};

static int vpl_work(void *session, const struct work_request *request, struct work_report *report,
		    struct error *err)
{
	return video_work(&encoder, session, false, request, report, err);
}

const struct api_driver vpl_api = {
	.name = "vpl",
	.library = VPL_LIBRARY,
	.summary = "Encode video with oneVPL on a device and report what happened",
	.description =
		"Opens the oneVPL dispatcher, lists the implementations in hardware and what they encode, and encodes moving frames with each "
		"codec on one of them. The streams are in the document, for verify-video to decode.",
	.session_size = sizeof(struct vpl),
	.open = vpl_open,
	.work = vpl_work,
	.close = vpl_close,
};
