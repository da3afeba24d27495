/* SPDX-License-Identifier: MIT */
/* The codecs that a device encodes: components that can be created, and their capabilities. Then one
 * stream of one component: surfaces go in, buffers come out, each when the encoder is ready. */
#include "workloads/amf/amf.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <wchar.h>

#define AMF_LIBRARY API_LIBRARY("amfrt64.dll", "libamfrt64.so.1")

/* Contexts on Vulkan can choose their device since then. */
#define NEEDED AMF_VERSION(1, 4, 9)

enum { USAGE_TRANSCODING = 0, PLANES = 2 };

/* Component, prefix of the names of properties, and the method of rate control for a constant rate. */
static const struct {
	const wchar_t *id, *prefix;
	int64_t constant_rate;
} codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = {L"AMFVideoEncoderVCE_AVC", L"", 1},
	[VIDEO_HEVC] = {L"AMFVideoEncoderHW_HEVC", L"Hevc", 3},
	[VIDEO_AV1] = {L"AMFVideoEncoderHW_AV1", L"Av1", 3},
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
	{13, "AMF_NOT_INITIALIZED", NULL},
	{14, "AMF_INVALID_FORMAT", NULL},
	{15, "AMF_WRONG_STATE", NULL},
	{17, "AMF_NO_DEVICE",
	 "it is not a device of AMD's driver, or the driver's files are not in the container"},
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
	struct error reason = {0};

	int rc = amf_check(result, call, failure, &reason);
	if (result == AMF_NOT_SUPPORTED || result == AMF_NOT_FOUND || result == AMF_NO_DEVICE ||
	    result == AMF_CODEC_NOT_SUPPORTED || result == AMF_ENCODER_NOT_PRESENT)
		rc = ERROR_UNSUPPORTED;
	return rc == 0 ? 0 : error_set(err, rc, "%s", reason.text);
}

/* Success without an object is an error, too. */
static int check_made(int rc, amf_object made, const char *call, struct error *err)
{
	if (rc == 0 && made == NULL)
		return error_set(err, ERROR_REMOTE, "%s succeeded and made none", call);
	return rc;
}

static void release(amf_object object)
{
	if (object != NULL)
		(void)AMF_METHOD(object, AMFInterface, Release)(object);
}

struct encoder {
	const struct amf *amf;
	const struct video_job *job;
	amf_object component;
};

/* ERROR_UNSUPPORTED: the device has none for this codec. */
static int make_component(const struct amf *amf, enum video_codec codec, amf_object *out,
			  struct call_failure *failure, struct error *err)
{
	static const char call[] = "AMFFactory::CreateComponent";
	const amf_result result = AMF_METHOD(amf->factory, AMFFactory, CreateComponent)(
		amf->factory, amf->context, codecs[codec].id, out);
	return check_made(amf_check_present(result, call, failure, err), *out, call, err);
}

static unsigned side(int32_t value)
{
	return value > 0 ? (unsigned)value : 0;
}

static void add(amf_object component, enum video_codec codec, struct video_offers *offers)
{
	static const struct {
		int64_t number;
		const char *name;
	} profiles[] = {{66, "baseline"}, {77, "main"}, {100, "high"}};
	struct video_offer *offer = video_offer_add(offers, codec);
	amf_object caps = NULL, input = NULL;
	int32_t width[2] = {0}, height[2] = {0};

	if (offer == NULL)
		return;
	(void)snprintf(offer->name, sizeof(offer->name), "%ls", codecs[codec].id);
	offer->hardware = true;
	if (AMF_METHOD(component, AMFComponent, GetCaps)(component, &caps) != AMF_OK ||
	    caps == NULL)
		return;
	offer->hardware =
		AMF_METHOD(caps, AMFCaps, GetAccelerationType)(caps) != AMF_ACCELERATION_SOFTWARE;
	if (AMF_METHOD(caps, AMFCaps, GetInputCaps)(caps, &input) == AMF_OK && input != NULL) {
		AMF_METHOD(input, AMFIOCaps, GetWidthRange)(input, &width[0], &width[1]);
		AMF_METHOD(input, AMFIOCaps, GetHeightRange)(input, &height[0], &height[1]);
		offer->least = (struct video_size){side(width[0]), side(height[0])};
		offer->most = (struct video_size){side(width[1]), side(height[1])};
		release(input);
	}

	/* Only H.264 reports these; no codec reports the number of B frames in a row. */
	AMFCaps_GetProperty *get = AMF_METHOD(caps, AMFCaps, GetProperty);
	struct amf_variant frames = {0}, profile = {0};
	if (codec == VIDEO_H264 && get(caps, L"BFrames", &frames) == AMF_OK &&
	    frames.type == AMF_VARIANT_BOOL && frames.value.boolean == 0)
		offer->b_frames = 0;
	if (codec == VIDEO_H264 && get(caps, L"MaxProfile", &profile) == AMF_OK &&
	    profile.type == AMF_VARIANT_INT64) {
		for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
			if (profiles[i].number <= profile.value.integer)
				video_offer_add_profile(offer, profiles[i].name);
		}
	}
	release(caps);
}

static int list(void *session, const struct work_request *request, struct video_offers *offers,
		struct error *err)
{
	struct amf *amf = session;
	struct call_failure *failure = &offers->failure;
	amf_object context = NULL;

	/* The interface of AMFContext that knows Vulkan. */
	int rc = AMF_CALL(failure, err, AMFFactory, CreateContext, amf->factory, &context);
	rc = check_made(rc, context, "AMFFactory::CreateContext", err);
	if (rc == 0)
		rc = AMF_CALL(failure, err, AMFContext, QueryInterface, context, &amf_context1_guid,
			      &amf->context);
	release(context);
	rc = check_made(rc, amf->context, "AMFContext::QueryInterface", err);

	if (rc == 0)
		rc = amf_device_open(amf, request->device, failure, err);
	for (int i = 0; rc == 0 && i < VIDEO_CODECS; i++) {
		amf_object component = NULL;

		rc = make_component(amf, (enum video_codec)i, &component, failure, err);
		if (rc == 0)
			add(component, (enum video_codec)i, offers);
		else if (rc == ERROR_UNSUPPORTED)
			rc = 0;
		release(component);
	}
	return rc;
}

static int set(const struct encoder *e, const wchar_t *name, struct amf_variant value,
	       struct error *err)
{
	wchar_t whole[64] = L"";

	(void)swprintf(whole, ARRAY_SIZE(whole), L"%ls%ls", codecs[e->job->offer->codec].prefix,
		       name);
	int rc = AMF_CALL(e->job->failure, err, AMFComponent, SetProperty, e->component, whole,
			  value);
	return rc != 0 ? error_wrap(err, rc, "%ls", whole) : 0;
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	/* The usage comes first, because it sets all other properties. */
	const struct {
		const wchar_t *name;
		int64_t value;
	} numbers[] = {
		{L"Usage", USAGE_TRANSCODING},
		{L"RateControlMethod", codecs[job->offer->codec].constant_rate},
		{L"TargetBitrate", VIDEO_BIT_RATE},
		{L"PeakBitrate", VIDEO_BIT_RATE},
	};
	const struct amf_variant rate = {AMF_VARIANT_RATE, {.rate = {VIDEO_RATE, 1}}};
	struct encoder *e = encoder;

	e->amf = session;
	e->job = job;
	int rc = make_component(e->amf, job->offer->codec, &e->component, job->failure, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(numbers); i++) {
		const struct amf_variant value = {AMF_VARIANT_INT64, {.integer = numbers[i].value}};
		rc = set(e, numbers[i].name, value, err);
	}
	if (rc == 0)
		rc = set(e, L"FrameRate", rate, err);
	if (rc == 0)
		rc = AMF_CALL(job->failure, err, AMFComponent, Init, e->component, AMF_SURFACE_NV12,
			      (int32_t)job->source.width, (int32_t)job->source.height);
	return rc;
}

static int fill(const struct encoder *e, amf_object surface, const struct video_planes *frame,
		struct error *err)
{
	const struct video_source *source = &e->job->source;
	const size_t count = AMF_METHOD(surface, AMFSurface, GetPlanesCount)(surface);
	struct video_planes planes = {0};
	bool fits = count == PLANES;

	for (size_t i = 0; fits && i < PLANES; i++) {
		amf_object plane = AMF_METHOD(surface, AMFSurface, GetPlaneAt)(surface, i);
		if (plane != NULL) {
			const int32_t pitch = AMF_METHOD(plane, AMFPlane, GetHPitch)(plane);
			planes.pitch[i] = pitch > 0 ? (size_t)pitch : 0;
			planes.data[i] = AMF_METHOD(plane, AMFPlane, GetNative)(plane);
		}
		fits = planes.data[i] != NULL && planes.pitch[i] >= source->width;
	}
	if (!fits)
		return error_set(
			err, ERROR_REMOTE,
			"AMFContext::AllocSurface succeeded and gave no memory of %u by %u",
			source->width, source->height);
	video_copy(source, frame, &planes);
	return 0;
}

/* AMF_NEED_MORE_INPUT: the frame was accepted, and there is no output yet. */
static int check_accepted(const struct encoder *e, amf_result result, const char *call,
			  struct error *err)
{
	if (result == AMF_INPUT_FULL)
		return error_set(err, ERROR_BUSY, "the encoder accepts nothing now");
	if (result == AMF_NEED_MORE_INPUT)
		return 0;
	return amf_check(result, call, e->job->failure, err);
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = encoder;
	amf_object component = e->component, surface = NULL;
	(void)index;

	if (frame == NULL)
		return check_accepted(e, AMF_METHOD(component, AMFComponent, Drain)(component),
				      "AMFComponent::Drain", err);
	int rc = AMF_CALL(e->job->failure, err, AMFContext, AllocSurface, e->amf->context,
			  AMF_MEMORY_HOST, AMF_SURFACE_NV12, (int32_t)e->job->source.width,
			  (int32_t)e->job->source.height, &surface);
	rc = check_made(rc, surface, "AMFContext::AllocSurface", err);
	if (rc == 0)
		rc = fill(e, surface, frame, err);
	if (rc == 0)
		rc = check_accepted(
			e, AMF_METHOD(component, AMFComponent, SubmitInput)(component, surface),
			"AMFComponent::SubmitInput", err);
	release(surface);
	return rc;
}

/* An encoder may ask for more frames for ever: video_work() ends that. */
static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct encoder *e = encoder;
	amf_object data = NULL, buffer = NULL;

	const amf_result result =
		AMF_METHOD(e->component, AMFComponent, QueryOutput)(e->component, &data);
	*ended = result == AMF_EOF;
	if (result == AMF_EOF)
		return 0;
	if (result == AMF_REPEAT || result == AMF_NEED_MORE_INPUT ||
	    (result == AMF_OK && data == NULL))
		return error_set(err, ERROR_BUSY, "the encoder has nothing yet");
	int rc = amf_check(result, "AMFComponent::QueryOutput", e->job->failure, err);
	if (rc == 0) {
		rc = AMF_CALL(e->job->failure, err, AMFData, QueryInterface, data, &amf_buffer_guid,
			      &buffer);
		rc = check_made(rc, buffer, "AMFData::QueryInterface", err);
	}
	if (rc == 0)
		rc = video_append(stream, AMF_METHOD(buffer, AMFBuffer, GetNative)(buffer),
				  AMF_METHOD(buffer, AMFBuffer, GetSize)(buffer),
				  "AMFBuffer::GetNative", err);
	release(buffer);
	release(data);
	return rc;
}

static void close_encoder(void *encoder)
{
	struct encoder *e = encoder;

	if (e->component != NULL)
		(void)AMF_METHOD(e->component, AMFComponent, Terminate)(e->component);
	release(e->component);
}

static void end(void *session)
{
	struct amf *amf = session;

	if (amf->context != NULL)
		(void)AMF_METHOD(amf->context, AMFContext, Terminate)(amf->context);
	release(amf->context);
	amf->context = NULL;
	amf_device_close(amf);
}

static const struct video_encoder encoder = {
	.layout = VIDEO_NV12,
	.list = list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
	.end = end,
};

static int amf_work(void *session, const struct work_request *request, struct work_report *report,
		    struct error *err)
{
	return video_work(&encoder, session, false, request, report, err);
}

static int amf_open(struct api_report *report, void *session, struct error *err)
{
	struct amf *amf = session;
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
	rc = check_made(rc, amf->factory, "AMFInit", err);
	if (rc == 0)
		rc = api_open_devices(amf_devices, report, &amf->devices, err);
	return rc;
}

static void amf_close(void *session)
{
	struct amf *amf = session;

	api_close(amf_devices, amf->devices);
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
