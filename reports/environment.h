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

/* Puts the sections of the object `from` in place of those of `environment`. ERROR_FORMAT:
 * a section has the wrong type, or there is no such section. */
int environment_merge(cJSON *environment, const struct json_at *from, struct error *err);

/* Puts what ran on devices, records of a journal {ref, api, files, nodes, drm}, into devices[].ran, and over
 * the files that came to containers and that discovery did not find, devices[].otherFiles, which identify.
 * Records of other devices than those of the environment are left out. ERROR_MEMORY. */
int environment_add_ran(cJSON *environment, const cJSON *ran, struct error *err);

/* The identifying members of a section or of each of its items, NULL-ended JSON pointers. NULL: no
 * such section. */
const char *const *environment_identity(const char *section);

/* Calls `use` for each section or item that identifies: "drivers", its identifying members (not all of which it has), and
 * itself. Ends with what `use` returns that is not 0. */
typedef int environment_use(const char *section, const char *const *identity, const cJSON *item,
			    void *user, struct error *err);
int environment_each(const cJSON *environment, environment_use *use, void *user, struct error *err);

/* Did it run on the node that it names? A recording proves nothing about a node, and neither does an environment that
 * names none. */
bool environment_is_live(const cJSON *environment);

/* SHA-256 over the identifying members. */
int environment_digest(const cJSON *environment, char out[DIGEST_SIZE], struct error *err);

/* Adds what people call a section ("os"), or an item of one that is an array ("drivers"): "Windows Server 2022 Datacenter
 * 20348.1547", "nvidia 552.12". Nothing where nothing is known. Not escaped. */
void environment_add_name(const char *section, const cJSON *item, struct text *out);

/* The same for a section with all its items: "lavapipe 22.3.6, pocl 3.1", "4 × NVIDIA Tesla T4". */
void environment_add_names(const char *section, const cJSON *environment, struct text *out);

/* The build by which people and expectations know a system (the section "os"): "20348.1547" of Windows, the kernel of others. */
void environment_add_build(const cJSON *os, struct text *out);
