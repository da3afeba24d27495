/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/json_members.h"
#include "conformance/runner/facts.h"

#define FACTS_FILE "facts.json"

/* facts.json: what is known of the image, and three documents that have readers of their own. */
struct facts_file {
	const char *unknown, *unread, *reference, *digest;
	enum compat_runtime runtime;
	const cJSON *host, *configuration, *contents;
};

extern const struct json_member facts_members[];
