/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/decode.h"

#include <libde265/de265.h>

static int deliver(const struct de265_image *image, const struct frame_sink *sink,
		   struct error *err)
{
	struct decoded_frame frame = {
		.width = (unsigned)de265_get_image_width(image, 0),
		.height = (unsigned)de265_get_image_height(image, 0),
		.usual = de265_get_chroma_format(image) == de265_chroma_420 &&
			 de265_get_bits_per_pixel(image, 0) == 8 &&
			 de265_get_bits_per_pixel(image, 1) == 8,
	};
	for (int plane = 0; plane < VIDEO_PLANES; plane++) {
		int pitch = 0;
		frame.planes.data[plane] =
			(uint8_t *)(uintptr_t)de265_get_image_plane(image, plane, &pitch);
		frame.planes.pitch[plane] = (size_t)pitch;
	}
	return sink->take(sink->user, &frame, err);
}

int decode_hevc(const uint8_t *data, size_t size, const struct frame_sink *sink, struct error *err)
{
	de265_decoder_context *decoder = de265_new_decoder();
	int more = 1, rc = 0;
	if (decoder == NULL)
		return error_memory(err);
	de265_set_verbosity(0);
	de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 0);
	if (!de265_isOK(de265_push_data(decoder, data, (int)size, 0, NULL)) ||
	    !de265_isOK(de265_flush_data(decoder)))
		rc = error_set(err, ERROR_FORMAT, "libde265 does not accept the stream");

	/* The decoder has the whole stream and its end, so it waits for more input only there. */
	while (more != 0 && rc == 0) {
		const de265_error result = de265_decode(decoder, &more);
		const bool ended = result == DE265_ERROR_WAITING_FOR_INPUT_DATA;
		const de265_error wrong =
			de265_isOK(result) || ended ? de265_get_warning(decoder) : result;
		const struct de265_image *image = NULL;
		if (wrong != DE265_OK)
			rc = error_set(err, ERROR_FORMAT, "libde265 gives up: %s",
				       de265_get_error_text(wrong));
		while (rc == 0 && (image = de265_get_next_picture(decoder)) != NULL)
			rc = deliver(image, sink, err);
		more = ended ? 0 : more;
	}
	(void)de265_free_decoder(decoder);
	return rc;
}
