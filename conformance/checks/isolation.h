/* SPDX-License-Identifier: MIT */
#pragma once

/* What the bodies of the suite isolation share: the plugin, and looks into containers. */

#include "base/cleanup.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/sights.h"
#include "conformance/checks/stage.h"

enum { ISOLATION_UNREADABLE_MAX = 8 }; /* containers for answers that cannot be read */

struct isolation {
	struct check_run *run;
	struct rig *rig;
	struct stage *stage;
	struct sight bare; /* a container without devices */
	cJSON *sights;	   /* what is kept for other checks (sights.h) */
};

#define CLEANUP_ISOLATION __attribute__((cleanup(isolation_close)))

/* Plugin, runtime and a look into a container without devices. `env` is for the plugin, NULL: as
 * always. False: recorded. */
bool isolation_open(struct isolation *isolation, struct check_run *run, const char *const *env);
void isolation_close(struct isolation *isolation);

/* What a container with this grant sees. False: recorded. */
bool isolation_look(struct isolation *isolation, const char *label, const struct grant *grant,
		    struct sight *out);

/* The same for an offer, which is admitted first. */
bool isolation_look_at(struct isolation *isolation, const char *label, struct offer *offer,
		       struct sight *out);

/* The answer cannot be read: a container is asked which devices the offer grants. False: recorded. */
bool isolation_ask(struct isolation *isolation, struct offer *offer, struct sight *sight);

/* Keeps what was seen in a container of an offer that grants one device. False: recorded. */
bool isolation_keep(struct isolation *isolation, const struct offer *offer,
		    const struct sight *sight);

/* Isolation holds for the runtime that it was seen on, which is noted. */
void isolation_note_runtime(struct check_run *run);
