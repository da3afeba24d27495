/* SPDX-License-Identifier: MIT */
#pragma once

/* Links from a page to the reports that it is about. */

#include "base/text.h"

/*
 * Adds a URL reference (RFC 3986) to the report of a run's folder, or to the report.json of that name: to the
 * report.html next to it, or else to report.json. A relative path stays relative to the working directory, where the
 * page is expected to be. Every character but letters, digits and "-._~/" is written as %XX, so that no path becomes a
 * scheme or leaves an attribute.
 */
void report_add_link(const char *path, struct text *out);

/* Adds a relative path with %XX as above. */
void report_add_encoded(const char *path, struct text *out);
