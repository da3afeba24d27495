/* SPDX-License-Identifier: MIT */
#include "discovery/recorded/format.h"

#include <stddef.h>

#define MEMBER(name) offsetof(struct discovery_device, name)

const struct recorded_string recorded_device_strings[] = {
	{"vendor", MEMBER(vendor)},
	{"manufacturer", MEMBER(manufacturer)},
	{"description", MEMBER(description)},
	{"locationPath", MEMBER(location_path)},
	{"pnpInstanceId", MEMBER(pnp_instance_id)},
	{0},
};

const struct recorded_string recorded_driver_strings[] = {
	{"name", MEMBER(driver_name)},
	{"version", MEMBER(driver_version)},
	{"key", MEMBER(driver_key)},
	{"userMode", MEMBER(user_mode_driver)},
	{"date", MEMBER(driver_date)},
	{"inf", MEMBER(driver_inf)},
	{"storePath", MEMBER(driver_store_path)},
	{0},
};

const struct recorded_string recorded_system_strings[] = {
	{"os", offsetof(struct discovery_system, os)},
	{"product", offsetof(struct discovery_system, product)},
	{"version", offsetof(struct discovery_system, version)},
	{"build", offsetof(struct discovery_system, build)},
	{"kernelBuild", offsetof(struct discovery_system, kernel_build)},
	{"architecture", offsetof(struct discovery_system, architecture)},
	{"enumerator", offsetof(struct discovery_system, enumerator)},
	{"emulator", offsetof(struct discovery_system, emulator)},
	{0},
};

const struct recorded_id recorded_pci_ids[] = {
	{"vendor", MEMBER(pci_vendor), 0xffff, 4},
	{"device", MEMBER(pci_device), 0xffff, 4},
	{"subsystemVendor", MEMBER(pci_subsystem_vendor), 0xffff, 4},
	{"subsystemDevice", MEMBER(pci_subsystem_device), 0xffff, 4},
	{"revision", MEMBER(pci_revision), 0xff, 2},
	{0},
};
