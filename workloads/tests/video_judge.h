/* SPDX-License-Identifier: MIT */
#pragma once

#include <cjson/cJSON.h>

/* What verify-video says about the first stream of a probe's document, H.264 of 64 by 64. Caller owns
 * it. */
cJSON *video_judge(const cJSON *document, const char *seed);
