/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Schema versions of the Windows Host Compute Service (HCS), which starts containers, and their
 * features. A version includes every lower minor version of its major version.
 *
 * Only major version 2 matters here: 1 is the interface of Docker before 2018, and others do not exist
 * yet.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct hcs_version {
	unsigned major, minor;
};

enum { HCS_VERSIONS_MAX = 64 };

/* The versions that a service supports: ascending, each once. */
struct hcs_versions {
	struct hcs_version items[HCS_VERSIONS_MAX];
	size_t count;
};

/*
 * Reads the answer of HcsGetServiceProperties() to the query for basic properties (UTF-8 JSON):
 *
 *   {"Properties": [{"SupportedSchemaVersions": [{"Major": 1, "Minor": 0}, {"Major": 2, "Minor":
 * 5}]}]}
 *
 * or the form that answers PropertyQueries ({"PropertyResponses": {"Basic": {"Response": {...}}}}).
 * The order is not promised, elements may be null, and unknown members are ignored.
 * `out` is overwritten. ERROR_FORMAT: not JSON, or a version that is not a pair of small numbers; names
 * the place. ERROR_NOT_FOUND: it names no version. ERROR_LIMIT: more than HCS_VERSIONS_MAX.
 */
int hcs_versions_parse(const char *json, size_t size, struct hcs_versions *out, struct error *err);

/* The newest of major version 2; NULL when there is none. */
const struct hcs_version *hcs_versions_newest(const struct hcs_versions *versions);

/* Ways to assign a device to a container (Container.AssignedDevices in Microsoft's HCS schema
 * reference). */
enum hcs_device {
	HCS_DEVICE_CLASS, /* every device of an interface class: Device.InterfaceClassGuid */
	HCS_DEVICE_LOCATION_PATH, /* one device: Device.LocationPath */
};

/* The first schema version that has it: 2.1, 2.2. */
struct hcs_version hcs_device_since(enum hcs_device device);

/* Negative, 0 or positive, as strcmp(). */
int hcs_version_compare(struct hcs_version a, struct hcs_version b);
