/* SPDX-License-Identifier: MIT */
#pragma once

#include <cjson/cJSON.h>

/* What verify-video says of the first stream in the document of an encoder's probe, whose seed is the
 * document's, or `other`, unless that is NULL. Caller owns it. */
cJSON *judge_stream(const cJSON *document, const char *other);

/* A document whose work is `encoded`, and a stream of which verify-video says so. */
void expect_judgement(const cJSON *document, const char *status, const char *reason);
