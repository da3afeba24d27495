/* SPDX-License-Identifier: MIT */
#include "workloads/tests/video_judge.h"

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/video/frames.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

#include <sodium.h>
#include <unistd.h>

cJSON *video_judge(const cJSON *document, const char *seed)
{
	static unsigned char bytes[VIDEO_STREAM_MAX];
	char *path CLEANUP_FREE =
		text_format(GPUCERT_BINARY_DIR "/tests/stream-%ld", (long)getpid());
	const char *base64 = string_at(document, "/work/video/streams/0/stream");
	static const char program[] = GPUCERT_BINARY_DIR "/libexec/gpucert/verify-video";
	const char *const argv[] = {program, "--codec",	 "h264", "--seed", seed, "--width",
				    "64",    "--height", "64",	 path,	   NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = 60000};
	struct process_result result = {0};
	cJSON *judgement = NULL;
	size_t size = 0;
	CU_ASSERT_EQUAL_FATAL(sodium_base642bin(bytes, sizeof(bytes), base64, strlen(base64), NULL,
						&size, NULL, sodium_base64_VARIANT_ORIGINAL),
			      0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, bytes, size, 0644, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(process_run(&spec, &result, NULL), 0);
	(void)unlink(path);
	CU_ASSERT_EQUAL_FATAL(
		json_parse(text_string(&result.out), result.out.size, &judgement, NULL), 0);
	process_result_free(&result);
	return judgement;
}
