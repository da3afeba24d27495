/* SPDX-License-Identifier: MIT */
/* The walk over arbitrary bytes, taken for a stream of each codec: pictures of some size, or an error
 * that says what is wrong. */
#include "workloads/video/walk.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int codec = 0; codec < VIDEO_CODECS; codec++) {
		struct video_walk walk = {0};
		struct error err = {0};
		int rc = video_walk((enum video_codec)codec, data, size, &walk, &err);
		if (rc == 0 ? walk.width == 0 || walk.height == 0 || walk.pictures > walk.units ||
				      walk.keys > walk.pictures || walk.headers == 0
			    : rc != ERROR_FORMAT || err.text[0] == '\0')
			abort();
	}
	return 0;
}
