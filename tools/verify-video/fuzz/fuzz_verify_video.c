/* SPDX-License-Identifier: MIT */
/* Judging arbitrary bytes as a stream of each codec. */
#include "tools/verify-video/judge.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct video_source source = {.seed = 7, .width = 64, .height = 64};
	for (int codec = 0; codec < VIDEO_CODECS; codec++) {
		struct judgement judgement = {0};
		int rc = judge_stream((enum video_codec)codec, data, size, &source, &judgement,
				      NULL);
		if (rc == 0 && (judgement.status == JUDGE_OK) != (judgement.reason[0] == '\0'))
			abort();
		if (judgement.status == JUDGE_OK && judgement.frames != VIDEO_FRAMES)
			abort();
	}
	return 0;
}
