/* SPDX-License-Identifier: MIT */
/* video_frames SEED WIDTH HEIGHT: writes the frames of a seed to standard output, I420 without gaps,
 * for encoders that read such files. */
#include "base/cleanup.h"
#include "base/text.h"
#include "workloads/video/frames.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	long long given[3] = {0};
	for (int i = 0; i < 3; i++) {
		if (argc != 4 ||
		    text_to_int64(argv[i + 1], "argument", 1, UINT32_MAX, &given[i], NULL) != 0)
			return 2;
	}
	const struct video_source source = {(uint32_t)given[0], (unsigned)given[1],
					    (unsigned)given[2]};
	const size_t size = video_frame_size(&source);
	uint8_t *memory CLEANUP_FREE = calloc(1, size);
	for (unsigned i = 0; memory != NULL && i < VIDEO_FRAMES; i++) {
		const struct video_planes planes = video_planes_of(&source, VIDEO_I420, memory);
		video_fill(&source, i, VIDEO_I420, &planes);
		if (fwrite(memory, 1, size, stdout) != size)
			return 1;
	}
	return memory != NULL ? 0 : 1;
}
