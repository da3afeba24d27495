/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Every Linux container of a run is judged (container_judge.h) while its probe is held, whatever the check
 * is about: a finding fails the check that launched it. Findings are kept in the run's folder, and
 * isolation.every-container, which runs last, sums them up:
 *
 *   containers.ndjson      {"check", "label", "findings": [], "open": []} for each container
 *   bare-HANDLER.json      a container without devices, with which the others are compared
 */

#include "conformance/checks/stage.h"

/* `grant` NULL: a container without devices, whose findings are the runtime's and a note here. */
void every_container_judge(struct check_run *run, const char *label, const char *handler,
			   const struct grant *grant, const struct container_view *view);

/* Is there a container without devices of this handler (NULL: the runtime's own) to compare with? */
bool every_container_has_bare(struct check_run *run, const char *handler);
