/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Which plugin is under test: the program that serves its socket, the files on its command line
 * (scripts, configuration) and the resources that registered. Arguments themselves may be secrets
 * and are never kept.
 */

#include "base/digests.h"
#include "base/json.h"

struct plugin_identity {
	char *name;	/* "device-plugin-gpu", "plugin.js (node)"; NULL: unknown */
	char *unknown;	/* which part of it is unknown; NULL: none */
	bool is_served; /* known from the process that serves the socket, not from the command */
	const struct digest_job *program; /* NULL: not known */
	struct digest_set files;
	struct text_list resources; /* sorted */
};

void plugin_identity_free(struct plugin_identity *identity);

/* Identifies it by its command line; NULL: somebody else started it. Errors of digest_set_add(). */
int plugin_identity_of_command(struct plugin_identity *identity, const char *command,
			       struct digests *digests, struct error *err);

/* Identifies it by its program: one of ours, whatever starts it. */
void plugin_identity_of_file(struct plugin_identity *identity, const char *program,
			     struct digests *digests);

/* Adds that `resource` registered and, the first time that it is known, the process that serves its
 * socket (0: unknown). *news: something was added. Errors of digest_set_add(). */
int plugin_identity_add(struct plugin_identity *identity, const char *resource, int pid,
			struct digests *digests, bool *news, struct error *err);

/* The report's `environment.plugin`; `version` NULL: not known. After digests_wait(). */
cJSON *plugin_identity_json(const struct plugin_identity *identity, const char *version);
