/* SPDX-License-Identifier: MIT */
/* What a device encodes: components that can be made, and what their capabilities tell. */
#include "workloads/amf/amf.h"

#include "base/cleanup.h"

#include <stdio.h>

static unsigned side(int32_t value)
{
	return value > 0 ? (unsigned)value : 0;
}

static void read_limits(struct amf_object *caps, struct video_offer *offer)
{
	struct amf_object *input = NULL;
	int32_t width[2] = {0}, height[2] = {0};
	if (AMF_METHOD(caps, AMFCaps, GetInputCaps)(caps, &input) != AMF_OK || input == NULL)
		return;
	AMF_METHOD(input, AMFIOCaps, GetWidthRange)(input, &width[0], &width[1]);
	AMF_METHOD(input, AMFIOCaps, GetHeightRange)(input, &height[0], &height[1]);
	offer->least = (struct video_size){side(width[0]), side(height[0])};
	offer->most = (struct video_size){side(width[1]), side(height[1])};
	amf_release(input);
}

/* Of H.264 alone: how many B frames in a row, no codec tells. */
static void read_h264(struct amf_object *caps, struct video_offer *offer)
{
	static const struct {
		int64_t number;
		const char *name;
	} profiles[] = {{66, "baseline"}, {77, "main"}, {100, "high"}};
	AMFCaps_GetProperty *get = AMF_METHOD(caps, AMFCaps, GetProperty);
	struct amf_variant frames = {0}, most = {0};
	if (get(caps, L"BFrames", &frames) == AMF_OK && frames.type == AMF_VARIANT_BOOL &&
	    frames.value.boolean == 0)
		offer->b_frames = 0;
	if (get(caps, L"MaxProfile", &most) != AMF_OK || most.type != AMF_VARIANT_INT64)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (profiles[i].number <= most.value.integer)
			video_offer_add_profile(offer, profiles[i].name);
	}
}

static void add(struct amf_object *component, enum video_codec codec, struct video_offers *offers)
{
	struct amf_object *caps = NULL;
	struct video_offer *offer = video_offer_add(offers, codec);
	if (offer == NULL)
		return;
	(void)snprintf(offer->name, sizeof(offer->name), "%ls", amf_codecs[codec].id);
	offer->hardware = true;
	if (AMF_METHOD(component, AMFComponent, GetCaps)(component, &caps) != AMF_OK ||
	    caps == NULL)
		return;
	offer->hardware =
		AMF_METHOD(caps, AMFCaps, GetAccelerationType)(caps) != AMF_ACCELERATION_SOFTWARE;
	read_limits(caps, offer);
	if (codec == VIDEO_H264)
		read_h264(caps, offer);
	amf_release(caps);
}

/* Of AMFContext the interface that knows Vulkan. */
static int make_context(struct amf *amf, struct call_failure *failure, struct error *err)
{
	struct amf_object *context = NULL;
	int rc = AMF_CALL(failure, err, AMFFactory, CreateContext, amf->factory, &context);
	rc = amf_check_made(rc, context, "AMFFactory::CreateContext", err);
	if (rc == 0)
		rc = AMF_CALL(failure, err, AMFContext, QueryInterface, context, &amf_context1_guid,
			      &amf->context);
	amf_release(context);
	return amf_check_made(rc, amf->context, "AMFContext::QueryInterface", err);
}

int amf_list(void *session, const struct work_request *request, struct video_offers *offers,
	     struct error *err)
{
	struct amf *amf = session;
	int rc = make_context(amf, &offers->failure, err);
	if (rc == 0)
		rc = amf_device_open(amf, request->device, &offers->failure, err);
	for (int i = 0; rc == 0 && i < VIDEO_CODECS; i++) {
		struct amf_object *component = NULL;
		rc = amf_make_component(amf, (enum video_codec)i, &component, &offers->failure,
					err);
		if (rc == 0)
			add(component, (enum video_codec)i, offers);
		else if (rc == ERROR_UNSUPPORTED)
			rc = 0;
		amf_release(component);
	}
	return rc;
}
