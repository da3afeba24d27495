/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/decode.h"

#include <libde265/de265.h>

static int deliver(const struct de265_image *image, frame_sink *sink, void *user, struct error *err)
{
	struct decoded_frame frame = {
		.width = (unsigned)de265_get_image_width(image, 0),
		.height = (unsigned)de265_get_image_height(image, 0),
	};
	if (de265_get_chroma_format(image) != de265_chroma_420 ||
	    de265_get_bits_per_pixel(image, 0) != 8 || de265_get_bits_per_pixel(image, 1) != 8)
		return error_set(err, ERROR_FORMAT, "the samples are not of 8 bits and 4:2:0");
	for (int plane = 0; plane < VIDEO_PLANES; plane++) {
		int pitch = 0;
		frame.planes.data[plane] =
			(uint8_t *)(uintptr_t)de265_get_image_plane(image, plane, &pitch);
		frame.planes.pitch[plane] = (size_t)pitch;
	}
	return sink(user, &frame, err);
}

static int decode_all(de265_decoder_context *decoder, frame_sink *sink, void *user,
		      struct error *err)
{
	int more = 1;
	while (more != 0) {
		const de265_error result = de265_decode(decoder, &more);
		if (!de265_isOK(result) && result != DE265_ERROR_WAITING_FOR_INPUT_DATA)
			return error_set(err, ERROR_FORMAT, "libde265 gives up: %s",
					 de265_get_error_text(result));
		const de265_error warning = de265_get_warning(decoder);
		if (warning != DE265_OK)
			return error_set(err, ERROR_FORMAT, "libde265 warns: %s",
					 de265_get_error_text(warning));
		const struct de265_image *image = NULL;
		while ((image = de265_get_next_picture(decoder)) != NULL) {
			int rc = deliver(image, sink, user, err);
			if (rc != 0)
				return rc;
		}
		if (result == DE265_ERROR_WAITING_FOR_INPUT_DATA)
			break;
	}
	return 0;
}

int decode_hevc(const uint8_t *data, size_t size, frame_sink *sink, void *user, struct error *err)
{
	de265_decoder_context *decoder = de265_new_decoder();
	if (decoder == NULL)
		return error_memory(err);
	de265_set_verbosity(0);
	de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 0);
	int rc = 0;
	if (!de265_isOK(de265_push_data(decoder, data, (int)size, 0, NULL)) ||
	    !de265_isOK(de265_flush_data(decoder)))
		rc = error_set(err, ERROR_FORMAT, "libde265 does not take the stream");
	if (rc == 0)
		rc = decode_all(decoder, sink, user, err);
	(void)de265_free_decoder(decoder);
	return rc;
}
