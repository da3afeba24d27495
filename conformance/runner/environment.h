/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_RUNNER_ENVIRONMENT_H
#define CONFORMANCE_RUNNER_ENVIRONMENT_H

/* The report's `environment`: what the run runs in, as parsed and digested facts. */

#include "conformance/runner/context.h"
#include "conformance/runner/workplace.h"

#include <cjson/cJSON.h>

/* Caller owns the object. ERROR_MEMORY. */
int environment_describe(const struct context *context, const struct workplace *workplace,
			 cJSON **out, struct error *err);

#endif
