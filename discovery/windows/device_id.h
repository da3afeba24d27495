/* SPDX-License-Identifier: MIT */
#pragma once

/* Plug-and-play instance ids: "PCI\VEN_10DE&DEV_1EB8&SUBSYS_12A210DE&REV_A1\3&13C0B0C5&1&D8". */

#include "discovery/builder.h"
#include "discovery/windows/adapter.h"

/* The device's id in a snapshot, made only from its instance id, so that it stays the same after reboots
 * and other changes of LUIDs: "PCI-10DE-1EB8-12A210DE-A1-3-13C0B0C5-1-D8". A long id is cut and ends in a
 * hash of the whole. */
const char *device_id_of_instance(struct builder *builder, const char *instance_id);

/* The ids in it; unknown ones stay ADAPTER_ID_UNKNOWN. */
struct adapter_ids device_id_parse(const char *instance_id);
