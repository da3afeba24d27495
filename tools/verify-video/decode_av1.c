/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/decode.h"

#include <dav1d/dav1d.h>
#include <errno.h>
#include <string.h>

enum { PIXELS_MAX = 4096 * 4096 };

static int deliver(const Dav1dPicture *picture, frame_sink *sink, void *user, struct error *err)
{
	const size_t luma = (size_t)picture->stride[0], chroma = (size_t)picture->stride[1];
	const struct decoded_frame frame = {
		.planes = {{picture->data[0], picture->data[1], picture->data[2]},
			   {luma, chroma, chroma}},
		.width = (unsigned)picture->p.w,
		.height = (unsigned)picture->p.h,
	};
	if (picture->p.layout != DAV1D_PIXEL_LAYOUT_I420 || picture->p.bpc != 8)
		return error_set(err, ERROR_FORMAT, "the samples are not of 8 bits and 4:2:0");
	return sink(user, &frame, err);
}

/* All pictures that there are by now. */
static int take_pictures(Dav1dContext *decoder, frame_sink *sink, void *user, struct error *err)
{
	for (;;) {
		Dav1dPicture picture = {0};
		const int result = dav1d_get_picture(decoder, &picture);
		if (result == DAV1D_ERR(EAGAIN))
			return 0;
		if (result < 0)
			return error_set(err, ERROR_FORMAT, "dav1d gives up: %s",
					 strerror(DAV1D_ERR(result)));
		int rc = deliver(&picture, sink, user, err);
		dav1d_picture_unref(&picture);
		if (rc != 0)
			return rc;
	}
}

static int decode_all(Dav1dContext *decoder, Dav1dData *data, frame_sink *sink, void *user,
		      struct error *err)
{
	int rc = 0;
	while (rc == 0 && data->sz > 0) {
		const int result = dav1d_send_data(decoder, data);
		if (result < 0 && result != DAV1D_ERR(EAGAIN))
			return error_set(err, ERROR_FORMAT, "dav1d does not take the stream: %s",
					 strerror(DAV1D_ERR(result)));
		rc = take_pictures(decoder, sink, user, err);
	}
	return rc == 0 ? take_pictures(decoder, sink, user, err) : rc;
}

int decode_av1(const uint8_t *data, size_t size, frame_sink *sink, void *user, struct error *err)
{
	Dav1dContext *decoder = NULL;
	Dav1dData input = {0};
	Dav1dSettings settings = {0};
	dav1d_default_settings(&settings);
	settings.n_threads = 1;
	settings.max_frame_delay = 1;
	settings.frame_size_limit = PIXELS_MAX;
	settings.logger = (Dav1dLogger){NULL, NULL};
	uint8_t *copy = dav1d_data_create(&input, size);
	if (copy == NULL || dav1d_open(&decoder, &settings) < 0) {
		dav1d_data_unref(&input);
		return error_memory(err);
	}
	memcpy(copy, data, size);
	int rc = decode_all(decoder, &input, sink, user, err);
	dav1d_data_unref(&input);
	dav1d_close(&decoder);
	return rc;
}
