/* SPDX-License-Identifier: MIT */
/* One stream of one implementation, from frames in the memory of the process. */
#include "workloads/vpl/vpl.h"

#include "workloads/vaapi/vaapi.h"

#include <stdlib.h>

enum { WAIT_MS = 10, BALANCED = 4, FIRST_NODE = 128 };

struct encoder_state {
	const struct vpl *vpl;
	const struct video_job *job;
	struct api_report report; /* of VA-API */
	void *vaapi;		  /* its session; NULL: there is none */
	mfxSession session;
	mfxVideoParam parameters;
	mfxExtAV1BitstreamParam av1;
	mfxExtBuffer *extension;
	bool initialised, draining, drained;
	mfxFrameSurface1 surfaces[VIDEO_FRAMES]; /* the encoder may hold any until the end */
	mfxBitstream stream;
	mfxSyncPoint pending; /* NULL: nothing is */
};

/* Implementations on Linux work on a display of VA-API, which the caller makes. Where there is none,
 * the implementation has to do without. */
static void give_display(struct encoder_state *e, mfxU32 node)
{
	const unsigned minor = node != 0 ? node : FIRST_NODE;
	(void)api_open(&vaapi_api, &e->report, &e->vaapi, NULL);
	const struct vaapi *va = e->vaapi;
	for (size_t i = 0; va != NULL && i < va->count; i++) {
		if (va->nodes[i].minor == minor && va->nodes[i].reason.code == 0)
			(void)e->vpl->MFXVideoCORE_SetHandle(e->session, MFX_HANDLE_VA_DISPLAY,
							     va->nodes[i].display);
	}
}

static void set_parameters(struct encoder_state *e)
{
	const struct video_source *source = &e->job->source;
	mfxVideoParam *to = &e->parameters;
	to->AsyncDepth = 1;
	to->IOPattern = MFX_IOPATTERN_IN_SYSTEM_MEMORY;
	to->mfx.CodecId = vpl_codecs[e->job->offer->codec];
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

/* Warnings are about parameters that the encoder chose otherwise, but for the one that a processor
 * stands in. */
static int check_encoder(struct encoder_state *e, mfxStatus status, const char *call,
			 struct error *err)
{
	int rc = status > MFX_ERR_NONE && status != MFX_WRN_PARTIAL_ACCELERATION
			 ? 0
			 : vpl_check(e->job->failure, status, call, err);
	return status == MFX_ERR_UNSUPPORTED
		       ? error_set(err, ERROR_UNSUPPORTED, "%s: MFX_ERR_UNSUPPORTED (-3)", call)
		       : rc;
}

static int initialise(struct encoder_state *e, struct error *err)
{
	const struct vpl *vpl = e->vpl;
	mfxVideoParam *parameters = &e->parameters;
	set_parameters(e);
	int rc = check_encoder(e, vpl->MFXVideoENCODE_Query(e->session, parameters, parameters),
			       "MFXVideoENCODE_Query", err);
	if (rc == 0)
		rc = check_encoder(e, vpl->MFXVideoENCODE_Init(e->session, parameters),
				   "MFXVideoENCODE_Init", err);
	e->initialised = rc == 0;
	return rc;
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct encoder_state *e = encoder;
	const struct vpl *vpl = e->vpl = session;
	const struct vpl_device *device = &vpl->devices[job->request->device];
	e->job = job;
	int rc = vpl_check(job->failure,
			   vpl->MFXCreateSession(vpl->loader, device->index, &e->session),
			   "MFXCreateSession", err);
	if (rc != 0) {
		e->session = NULL; /* the dispatcher leaves what it made, and freed */
		return rc;
	}
	e->stream.MaxLength = (mfxU32)(2 * video_frame_size(&job->source) + 65536);
	e->stream.Data = malloc(e->stream.MaxLength);
	if (e->stream.Data == NULL)
		return error_memory(err);
	give_display(e, device->render_node);
	return initialise(e, err);
}

/* A frame, or NULL for what was held back. */
static int submit(struct encoder_state *e, mfxFrameSurface1 *surface, struct error *err)
{
	const mfxStatus status = e->vpl->MFXVideoENCODE_EncodeFrameAsync(e->session, NULL, surface,
									 &e->stream, &e->pending);
	if (status == MFX_WRN_DEVICE_BUSY)
		return error_set(err, ERROR_BUSY, "the device is busy");
	if (status == MFX_ERR_MORE_DATA) { /* it keeps the frame, or has given all */
		e->pending = NULL;
		e->drained = surface == NULL;
		return 0;
	}
	return status > MFX_ERR_NONE
		       ? 0
		       : vpl_check(e->job->failure, status, "MFXVideoENCODE_EncodeFrameAsync", err);
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder_state *e = encoder;
	e->draining = frame == NULL;
	if (e->draining)
		return 0;
	if (e->pending != NULL)
		return error_set(err, ERROR_BUSY, "the encoder codes a frame");
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

static int append(struct encoder_state *e, struct text *stream, struct error *err)
{
	mfxBitstream *from = &e->stream;
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

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct encoder_state *e = encoder;
	if (e->pending == NULL && e->draining && !e->drained) {
		int rc = submit(e, NULL, err);
		if (rc != 0)
			return rc;
	}
	*ended = e->drained;
	if (e->pending == NULL)
		return e->drained ? 0 : error_set(err, ERROR_BUSY, "the encoder wants a frame");
	const mfxStatus status =
		e->vpl->MFXVideoCORE_SyncOperation(e->session, e->pending, WAIT_MS);
	if (status == MFX_WRN_IN_EXECUTION)
		return error_set(err, ERROR_BUSY, "the frame is not coded yet");
	int rc = vpl_check(e->job->failure, status, "MFXVideoCORE_SyncOperation", err);
	return rc == 0 ? append(e, stream, err) : rc;
}

static void close_encoder(void *encoder)
{
	struct encoder_state *e = encoder;
	if (e->initialised)
		(void)e->vpl->MFXVideoENCODE_Close(e->session);
	if (e->session != NULL)
		(void)e->vpl->MFXClose(e->session);
	if (e->vaapi != NULL)
		vaapi_api.close(e->vaapi);
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

const struct video_encoder vpl_encoder = {
	.layout = VIDEO_NV12,
	.list = list,
	.size = sizeof(struct encoder_state),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};
