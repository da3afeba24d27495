/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The environment of a run: what a certificate is about. Two runs with one digest are repetitions
 * of each other, so the digest covers only the members that identify (docs/report.md lists them),
 * in any order.
 */

#include "base/digest.h"
#include "base/members.h"

/* An environment in which nothing is known: objects null, arrays empty. */
cJSON *environment_new(void);

/* Replaces the sections of `environment` by those of the object `from`. ERROR_FORMAT: a section has the wrong
 * type, or is unknown. */
int environment_merge(cJSON *environment, const struct json_at *from, struct error *err);

/* Adds the journal's records {ref, api, files, nodes, drm} of work on devices to devices[].ran. The digest of the
 * files that containers used and discovery did not find becomes devices[].otherFiles, which identifies.
 * Records of devices that the environment lacks are left out. */
void environment_add_ran(cJSON *environment, const cJSON *ran);

/* The identifying members of a section or of each of its items, NULL-ended JSON pointers. NULL: the
 * section is unknown. */
const char *const *environment_identity(const char *section);

/* Calls `use` for each section or item that identifies, with the section's name, the pointers of the identifying members
 * (some may be absent), and the section or item. */
typedef void environment_use(const char *section, const char *const *identity, const cJSON *item,
			     void *user);
void environment_each(const cJSON *environment, environment_use *use, void *user);

/* environment.drivers[].model of a driver of virtual GPUs: neither hardware nor software. */
#define REPORT_MODEL_VIRTUAL "virtual"

/* Did it run on the node that it names? Neither a recording nor an environment without a node proves anything about a
 * node. */
bool environment_is_live(const cJSON *environment);

/* SHA-256 over the lines, which it sorts, each with `end` behind it. */
void environment_digest_lines(struct text_list *lines, const char *end, char out[DIGEST_SIZE]);

/* SHA-256 over the identifying members. */
void environment_digest(const cJSON *environment, char out[DIGEST_SIZE]);

/* Adds the common name of a section ("os"), or of an item of an array section ("drivers"): "Windows Server 2022 Datacenter
 * 20348.1547", "nvidia 552.12". Nothing where nothing is known. Not escaped. */
void environment_add_name(const char *section, const cJSON *item, struct text *out);

/* The same for a section with all its items: "lavapipe 22.3.6, pocl 3.1", "4 × NVIDIA Tesla T4". */
void environment_add_names(const char *section, const cJSON *environment, struct text *out);

/* Adds the build that people and expectations name (of the section "os"): "20348.1547" for Windows, else the kernel. */
void environment_add_build(const cJSON *os, struct text *out);
