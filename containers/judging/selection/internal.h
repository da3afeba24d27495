/* SPDX-License-Identifier: MIT */
#pragma once

/* Internal to selection/. */

#include "containers/judging/compat/case.h"
#include "containers/judging/selection/catalogue.h"

extern const char *const catalogue_vendors[]; /* "nvidia", "amd", "intel", NULL-ended */

/* Resets an entry to one without any information. */
void catalogue_entry_reset(struct catalogue_entry *entry);
void catalogue_entry_free(struct catalogue_entry *entry);
bool catalogue_date_is_valid(const char *string);

/* Adds the entries of a file. Errors of catalogue_parse(). */
int catalogue_read_document(const cJSON *document, struct catalogue *out, struct error *err);

/* Does an image require GPUs of a vendor? */
bool wants_vendor(const struct catalogue_requirements *wants, const char *vendor);

/* Adds the findings of every rule about an entry: those of compat/, some of which the requirements
 * replace, those about the requirements, and that of the compatibility artifact. */
void wants_check(const struct catalogue_entry *entry, const struct host_facts *host,
		 const struct compat_options *options, struct compat_answer *answer);
