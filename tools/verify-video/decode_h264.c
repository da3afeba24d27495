/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/decode.h"

#include "workloads/video/walk.h"

#include <wels/codec_api.h>

struct h264 {
	ISVCDecoder *decoder;
	frame_sink *sink;
	void *user;
	struct error *err;
};

static int deliver(const struct h264 *h264, unsigned char *const planes[VIDEO_PLANES],
		   const SBufferInfo *info)
{
	const SSysMEMBuffer *buffer = &info->UsrData.sSystemBuffer;
	if (info->iBufferStatus != 1 || planes[0] == NULL)
		return 0;
	const size_t luma = (size_t)buffer->iStride[0], chroma = (size_t)buffer->iStride[1];
	const struct decoded_frame frame = {
		.planes = {{planes[0], planes[1], planes[2]}, {luma, chroma, chroma}},
		.width = (unsigned)buffer->iWidth,
		.height = (unsigned)buffer->iHeight,
	};
	return h264->sink(h264->user, &frame, h264->err);
}

static int decode_unit(const struct h264 *h264, const uint8_t *data, size_t size)
{
	unsigned char *planes[VIDEO_PLANES] = {NULL};
	SBufferInfo info = {0};
	const DECODING_STATE state =
		(*h264->decoder)->DecodeFrameNoDelay(h264->decoder, data, (int)size, planes, &info);
	if (state != dsErrorFree)
		return error_set(h264->err, ERROR_FORMAT, "OpenH264 gives up: state 0x%x",
				 (unsigned)state);
	return deliver(h264, planes, &info);
}

/* Pictures that wait for their turn. */
static int flush(const struct h264 *h264)
{
	int32_t end = 1, left = 0;
	int rc = 0;
	(void)(*h264->decoder)->SetOption(h264->decoder, DECODER_OPTION_END_OF_STREAM, &end);
	(void)(*h264->decoder)
		->GetOption(h264->decoder, DECODER_OPTION_NUM_OF_FRAMES_REMAINING_IN_BUFFER, &left);
	for (int32_t i = 0; rc == 0 && i < left; i++) {
		unsigned char *planes[VIDEO_PLANES] = {NULL};
		SBufferInfo info = {0};
		(void)(*h264->decoder)->FlushFrame(h264->decoder, planes, &info);
		rc = deliver(h264, planes, &info);
	}
	return rc;
}

/* Does this unit begin an access unit, once a slice was seen? Parameter sets, SEI, a delimiter, or
 * the first slice of a picture (ITU-T H.264, 7.4.1.2.3). */
static bool begins_picture(const uint8_t *unit, size_t size)
{
	const unsigned type = unit[0] & 0x1F;
	return (type >= 6 && type <= 9) ||
	       ((type == 1 || type == 5) && size > 1 && (unit[1] & 0x80) != 0);
}

static bool is_slice(const uint8_t *unit)
{
	return (unit[0] & 0x1F) == 1 || (unit[0] & 0x1F) == 5;
}

static int decode_all(const struct h264 *h264, const uint8_t *data, size_t size)
{
	size_t begin = 0; /* of the access unit */
	bool sliced = false;
	int rc = 0;
	for (size_t at = video_start_code(data, size, 0); rc == 0 && at + 3 < size;
	     at = video_start_code(data, size, at + 3)) {
		if (sliced && begins_picture(data + at + 3, size - at - 3)) {
			rc = decode_unit(h264, data + begin, at - begin);
			begin = at;
			sliced = false;
		}
		sliced = sliced || is_slice(data + at + 3);
	}
	if (rc == 0)
		rc = decode_unit(h264, data + begin, size - begin);
	return rc == 0 ? flush(h264) : rc;
}

int decode_h264(const uint8_t *data, size_t size, frame_sink *sink, void *user, struct error *err)
{
	struct h264 h264 = {.sink = sink, .user = user, .err = err};
	SDecodingParam parameters = {.eEcActiveIdc = ERROR_CON_DISABLE};
	int silent = WELS_LOG_QUIET;
	if (WelsCreateDecoder(&h264.decoder) != 0 || h264.decoder == NULL)
		return error_memory(err);
	(void)(*h264.decoder)->SetOption(h264.decoder, DECODER_OPTION_TRACE_LEVEL, &silent);
	parameters.sVideoProperty.size = sizeof(parameters.sVideoProperty);
	parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
	int rc = (*h264.decoder)->Initialize(h264.decoder, &parameters) == 0
			 ? decode_all(&h264, data, size)
			 : error_memory(err);
	(void)(*h264.decoder)->Uninitialize(h264.decoder);
	WelsDestroyDecoder(h264.decoder);
	return rc;
}
