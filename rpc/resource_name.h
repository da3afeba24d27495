/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/* The kubelet's rule for extended resources (pkg/apis/core/v1/helper, IsExtendedResourceName):
 * DOMAIN/NAME outside kubernetes.io, the domain a DNS-1123 subdomain of at most 244 characters that
 * does not begin with "requests.", the name 1 to 63 of [A-Za-z0-9._-] that begins and ends with a
 * letter or digit. ERROR_FORMAT says what is wrong, without the name. */
int resource_name_check(const char *name, struct error *err);
