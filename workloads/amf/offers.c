/* SPDX-License-Identifier: MIT */
/* What a device encodes: components that can be made, and what their capabilities tell. */
#include "workloads/amf/amf.h"

#include "base/cleanup.h"

#include <stdio.h>

static unsigned side(int32_t value)
{
	return value > 0 ? (unsigned)value : 0;
}

static void read_limits(struct amf_caps *caps, struct video_offer *offer)
{
	struct amf_io_caps *input = NULL;
	int32_t values[4] = {0};
	if (caps->calls->input(caps, &input) != AMF_OK || input == NULL)
		return;
	input->calls->width(input, &values[0], &values[1]);
	input->calls->height(input, &values[2], &values[3]);
	offer->least = (struct video_size){side(values[0]), side(values[2])};
	offer->most = (struct video_size){side(values[1]), side(values[3])};
	amf_release(input);
}

/* Of H.264 alone: how many B frames in a row, no codec tells. */
static void read_h264(struct amf_caps *caps, struct video_offer *offer)
{
	static const struct {
		int64_t number;
		const char *name;
	} profiles[] = {{66, "baseline"}, {77, "main"}, {100, "high"}};
	struct amf_variant frames = {0}, most = {0};
	size_t length = 0;
	if (caps->calls->get(caps, L"BFrames", &frames) == AMF_OK &&
	    frames.type == AMF_VARIANT_BOOL && frames.value.boolean == 0)
		offer->b_frames = 0;
	if (caps->calls->get(caps, L"MaxProfile", &most) != AMF_OK ||
	    most.type != AMF_VARIANT_INT64)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (profiles[i].number > most.value.integer)
			continue;
		length +=
			(size_t)snprintf(offer->profiles + length, sizeof(offer->profiles) - length,
					 "%s%s", length == 0 ? "" : " ", profiles[i].name);
	}
}

static int list_codec(struct amf *amf, enum video_codec codec, struct video_offers *offers,
		      struct error *err)
{
	struct amf_component *component = NULL;
	struct amf_caps *caps = NULL;
	const amf_result result = amf->factory->calls->create_component(
		amf->factory, amf->context, amf_codecs[codec].id, &component);
	if (amf_is_absent(result))
		return 0;
	int rc = amf_check(result, "AMFFactory::CreateComponent", &amf->failure, err);
	if (rc != 0 || component == NULL)
		return rc;
	struct video_offer *offer = video_offer_add(offers, codec);
	if (offer != NULL) {
		(void)snprintf(offer->name, sizeof(offer->name), "%ls", amf_codecs[codec].id);
		offer->hardware = true;
		if (component->calls->get_caps(component, &caps) == AMF_OK && caps != NULL) {
			offer->hardware =
				caps->calls->acceleration(caps) != AMF_ACCELERATION_SOFTWARE;
			read_limits(caps, offer);
			if (codec == VIDEO_H264)
				read_h264(caps, offer);
		}
	}
	amf_release(caps);
	amf_release(component);
	return 0;
}

int amf_list(void *session, const struct work_request *request, struct video_offers *offers,
	     struct error *err)
{
	struct amf *amf = session;
	int rc = amf_device_open(amf, request->device, err);
	for (int i = 0; rc == 0 && i < VIDEO_CODECS; i++)
		rc = list_codec(amf, (enum video_codec)i, offers, err);
	return rc;
}
