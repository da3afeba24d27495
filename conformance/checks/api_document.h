/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What an API's probe reports from a container with one device, judged: the API answers, shows the
 * device and no other hardware, and the work on it is right. Software next to hardware does not count,
 * and a driver that neither the plugin nor the image brings is unsupported.
 */

#include "base/gpu_apis.h"
#include "conformance/checks/visibility.h"

/* `grant` is the container's grant, `seen` as for identity_expect(). */
void api_expect_document(struct check_run *run, const struct discovery_device *device,
			 const struct gpu_api *api, const struct grant *grant,
			 const cJSON *document, struct identity_seen *seen);
