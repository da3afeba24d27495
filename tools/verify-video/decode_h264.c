/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/decode.h"

#include <wels/codec_api.h>

/* Passes a unit to the decoder and delivers the picture that may come out: the previous one, when the
 * first unit of another one goes in. A unit of no bytes ends the stream, and with NULL the delayed
 * pictures come out. */
static int decode_unit(ISVCDecoder *decoder, const uint8_t *data, size_t size,
		       const struct frame_sink *sink, struct error *err)
{
	unsigned char *planes[VIDEO_PLANES] = {NULL};
	SBufferInfo info = {0};
	const DECODING_STATE state =
		data != NULL ? (*decoder)->DecodeFrame2(decoder, data, (int)size, planes, &info)
			     : (*decoder)->FlushFrame(decoder, planes, &info);
	const SSysMEMBuffer *buffer = &info.UsrData.sSystemBuffer;
	if (state != dsErrorFree)
		return error_set(err, ERROR_FORMAT, "OpenH264 gives up: state 0x%x",
				 (unsigned)state);
	if (info.iBufferStatus != 1 || planes[0] == NULL)
		return 0;
	const size_t luma = (size_t)buffer->iStride[0], chroma = (size_t)buffer->iStride[1];
	const struct decoded_frame frame = {
		.planes = {{planes[0], planes[1], planes[2]}, {luma, chroma, chroma}},
		.width = (unsigned)buffer->iWidth,
		.height = (unsigned)buffer->iHeight,
		.usual = true, /* OpenH264 knows no others */
	};
	return sink->take(sink->user, &frame, err);
}

int decode_h264(const uint8_t *data, size_t size, const struct frame_sink *sink, struct error *err)
{
	ISVCDecoder *decoder = NULL;
	SDecodingParam parameters = {.eEcActiveIdc = ERROR_CON_DISABLE};
	int silent = WELS_LOG_QUIET;
	int32_t left = 0;
	int rc = 0;

	if (WelsCreateDecoder(&decoder) != 0 || decoder == NULL)
		return error_memory(err);
	(void)(*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_LEVEL, &silent);
	parameters.sVideoProperty.size = sizeof(parameters.sVideoProperty);
	parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
	if ((*decoder)->Initialize(decoder, &parameters) != 0)
		rc = error_memory(err);

	for (size_t at = video_start_code(data, size, 0), next = 0; rc == 0 && at < size;
	     at = next) {
		next = video_start_code(data, size, at + 3);
		rc = decode_unit(decoder, data + at, next - at, sink, err);
	}
	if (rc == 0)
		rc = decode_unit(decoder, data + size, 0, sink, err);
	if (rc == 0)
		(void)(*decoder)->GetOption(
			decoder, DECODER_OPTION_NUM_OF_FRAMES_REMAINING_IN_BUFFER, &left);
	while (rc == 0 && left-- > 0)
		rc = decode_unit(decoder, NULL, 0, sink, err);

	(void)(*decoder)->Uninitialize(decoder);
	WelsDestroyDecoder(decoder);
	return rc;
}
