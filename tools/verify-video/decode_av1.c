/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/decode.h"

#include "base/cleanup.h"

#include <dav1d/dav1d.h>
#include <errno.h>
#include <string.h>

enum { PIXELS_MAX = 4096 * 4096 };

static int give_up(int result, struct error *err)
{
	return error_set(err, ERROR_FORMAT, "dav1d gives up: %s", strerror(DAV1D_ERR(result)));
}

/* Delivers all pictures that are ready. */
static int take_pictures(Dav1dContext *decoder, const struct frame_sink *sink, struct error *err)
{
	int rc = 0;
	while (rc == 0) {
		Dav1dPicture picture = {0};
		const int result = dav1d_get_picture(decoder, &picture);
		if (result < 0)
			return result == DAV1D_ERR(EAGAIN) ? 0 : give_up(result, err);
		const size_t luma = (size_t)picture.stride[0], chroma = (size_t)picture.stride[1];
		const struct decoded_frame frame = {
			.planes = {{picture.data[0], picture.data[1], picture.data[2]},
				   {luma, chroma, chroma}},
			.width = (unsigned)picture.p.w,
			.height = (unsigned)picture.p.h,
			.usual = picture.p.layout == DAV1D_PIXEL_LAYOUT_I420 && picture.p.bpc == 8,
		};
		rc = sink->take(sink->user, &frame, err);
		dav1d_picture_unref(&picture);
	}
	return rc;
}

int decode_av1(const uint8_t *data, size_t size, const struct frame_sink *sink, struct error *err)
{
	Dav1dContext *decoder CLEANUP(dav1d_close) = NULL;
	Dav1dData input CLEANUP(dav1d_data_unref) = {0};
	Dav1dSettings settings = {0};
	int rc = 0;

	dav1d_default_settings(&settings);
	settings.n_threads = 1;
	settings.max_frame_delay = 1;
	settings.frame_size_limit = PIXELS_MAX;
	settings.logger = (Dav1dLogger){NULL, NULL};
	uint8_t *copy = dav1d_data_create(&input, size);
	if (copy == NULL || dav1d_open(&decoder, &settings) < 0)
		return error_memory(err);
	memcpy(copy, data, size);

	while (rc == 0 && input.sz > 0) {
		const int result = dav1d_send_data(decoder, &input);
		if (result < 0 && result != DAV1D_ERR(EAGAIN))
			return give_up(result, err);
		rc = take_pictures(decoder, sink, err);
	}
	if (rc == 0)
		rc = take_pictures(decoder, sink, err);
	return rc;
}
