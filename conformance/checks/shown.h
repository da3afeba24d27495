/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The devices that one API showed, as a probe reports them: which entries are software, and how many
 * devices the others are. Drivers of one device each list it (Mesa's and the vendor's), and so do parts
 * of a device. A fact that a driver does not report is unknown, and is compared with nothing.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>

struct shown_count {
	long long hardware; /* devices that are known to differ from one another */
	long long software; /* entries */
};

/* `emulator` as in struct discovery_system: there a software renderer stands in for the hardware. `parts`:
 * the node has parts of a GPU as devices of their own, which share its address. */
struct shown_count shown_count(const cJSON *devices, const char *emulator, bool parts);

/* Windows' own software renderer (Microsoft Basic Render Driver, 1414:008c), which every Windows has. */
bool shown_is_basic_renderer(const cJSON *device);

/* The processor does the work: the API says so, or it is the Basic Render Driver. */
bool shown_is_software(const cJSON *device);

/* Index of the entry that the probe worked on; where it only lists, the first that is hardware, or 0. */
int shown_worked(const cJSON *document);

/* That entry; NULL: none. */
const cJSON *shown_device(const cJSON *document);

/* The number at `pointer` if it is a PCI id; -1: it is not. Khronos gives vendors without one ids of
 * its own, from 0x10000 on. */
long shown_pci_id(const cJSON *device, const char *pointer);

/* Two PCI addresses; the domain is compared if both have one. */
bool shown_same_address(const char *one, const char *other);
