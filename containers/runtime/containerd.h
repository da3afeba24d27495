/* SPDX-License-Identifier: MIT */
#pragma once

/* What has to be known about the containerd program: its version, its configuration, its
 * snapshotters. */

#include "base/error.h"
#include "base/text.h"

/* "1.6.20~ds1" of what "containerd --version" prints: "containerd REPOSITORY [v]1.6.20...
 * [REVISION]". ERROR_FORMAT. Caller frees *out. */
int containerd_parse_version(const char *output, char **out, struct error *err);

/* Runs "PROGRAM --version". ERROR_NOT_FOUND: no such program. */
int containerd_probe_version(const char *program, char **out, struct error *err);

/* "overlayfs" when it can be mounted below `directory`, else "native" with the reason (caller
 * frees). */
int containerd_choose_snapshotter(const char *directory, const char **snapshotter, char **reason,
				  struct error *err);

struct containerd_config {
	const char *directory; /* of the run; absolute */
	const char *snapshotter;
	const char *version;
};

/* The content of config.toml (configuration version 2, which containerd 1.6 to 2.x read). */
void containerd_config(const struct containerd_config *config, struct text *out);
