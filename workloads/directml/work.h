/* SPDX-License-Identifier: MIT */
#pragma once

#include "workloads/directml/directml.h"

/* The sum of two tensors of request->elements, and the product of two matrices, on one device that
 * exists. ERROR_REMOTE (dml->d3d->failure), ERROR_TIMEOUT, ERROR_UNSUPPORTED, ERROR_MEMORY. */
int directml_work(struct directml *dml, const struct work_request *request,
		  struct work_report *report, struct error *err);
