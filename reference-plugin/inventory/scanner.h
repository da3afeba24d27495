/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Keeps the inventory up to date: takes discovery snapshots at the poll interval, when the system
 * reports a change, and when a gone device is due for removal; at most once in SCANNER_PAUSE_MS, or in
 * the poll interval if that is shorter.
 *
 * A snapshot that fails is logged and the inventory stays as it was: a file that cannot be read for a
 * moment must not take devices from the node.
 */

#include "base/error.h"
#include "reference-plugin/configuration/config.h"
#include "reference-plugin/inventory/inventory.h"

#include <uv.h>

enum { SCANNER_PAUSE_MS = 1000, SCANNER_FIRST_MS = 200 };

struct scanner;

/* The first snapshot is taken after SCANNER_FIRST_MS, unless somebody asks before. `on_change` runs
 * when the list for the kubelet has changed. `config` is borrowed for the scanner's life.
 * ERROR_MEMORY. */
int scanner_open(uv_loop_t *loop, const struct config *config, void (*on_change)(void *user),
		 void *user, struct scanner **out, struct error *err);

/* The devices that are known now; the first call takes a snapshot. */
const struct inventory *scanner_inventory(struct scanner *scanner);

/* Takes a snapshot now. Errors: those of discovery_take() and inventory_update(). */
int scanner_scan(struct scanner *scanner, struct error *err);

/* Takes one as soon as the pause allows. */
void scanner_scan_soon(struct scanner *scanner);

/* The inventory may not be used afterwards. The memory is freed when libuv has closed its handles.
 * NULL is allowed. */
void scanner_close(struct scanner *scanner);
