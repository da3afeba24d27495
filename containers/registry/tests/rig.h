/* SPDX-License-Identifier: MIT */
#pragma once

/* Real registries, and what breaks the way to them: doubles/registry_rig.mjs as a process. */

#include "containers/registry/image_source.h"
#include "containers/registry/tests/layout_maker.h"

#include <uv.h>

enum { WAITS_MAX = 64 };

/* Time that passes when it is waited for. */
struct fake_clock {
	uint64_t now_ms;
	uint64_t waits[WAITS_MAX];
	size_t count;
};

struct rig {
	uv_loop_t loop;
	struct process *process;
	char *directory;
	cJSON *ports;
	bool ended;
	char *ca_certificate;
	struct fake_clock time;
	struct http_clock clock;
};

/* 0; 77: this machine lacks docker-registry or Node.js; 1: it does not start, and says why. */
int rig_open(struct rig *rig);
/* The same with another double: below the sources, told the folder, prints its ports. */
int rig_open_script(struct rig *rig, const char *script);
void rig_close(struct rig *rig);

/* "HOST:PORT" of "plain", "password", "token" (TLS), "proxy", "proxyTls", "nothing". Caller frees. */
char *rig_host(const struct rig *rig, const char *host, const char *port);

/* Options for the one without TLS and for those with it; time is the rig's, and starts anew. */
struct registry_options rig_options(struct rig *rig, bool tls);

/* Writes config.json and points DOCKER_CONFIG to it. NULL: an empty folder. */
void rig_credentials(const struct rig *rig, const char *config);

/* What was recorded since the last call. Caller frees. */
char *rig_recorded(const struct rig *rig);

/* Pushes an image of one layer, which `layer` holds; the manifest's digest. */
void rig_push_image(const struct registry_options *options, const char *host, const char *name,
		    const char *tag, const struct text *layer, char digest[DIGEST_TEXT_SIZE]);
