/* SPDX-License-Identifier: MIT */
#pragma once

/* What the room's own files share. */

#include "containers/judging/compat/case.h"
#include "containers/judging/selection/catalogue.h"

extern const char *const catalogue_vendors[]; /* "nvidia", "amd", "intel", NULL-ended */

/* An entry that tells nothing. */
void catalogue_entry_reset(struct catalogue_entry *entry);
void catalogue_entry_free(struct catalogue_entry *entry);
bool catalogue_date_is_valid(const char *string);

/* Adds the entries of a file. Errors of catalogue_parse(). */
int catalogue_read_document(const cJSON *document, struct catalogue *out, struct error *err);

/* Does an image ask for GPUs of a vendor? */
bool wants_vendor(const struct catalogue_requirements *wants, const char *vendor);

/* Adds what every rule finds about an entry: those of compat/, of which the wants replace some, and
 * those of wants, and that of the compatibility artifact. */
void wants_check(const struct catalogue_entry *entry, const struct host_facts *host,
		 const struct compat_options *options, struct compat_answer *answer);
