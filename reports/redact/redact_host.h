/* SPDX-License-Identifier: MIT */
#pragma once

/* What identifies the machine that this program runs on, and who runs it. */

#include "reports/redact/redact.h"

/*
 * Adds names of the host and of the user (of the system, and variables such as NODE_NAME and SUDO_USER), home
 * folders, serial numbers of the machine, of its disks, network interfaces and GPUs as far as this process may
 * read them, and the values of variables whose names say that they are secrets. The key becomes that of
 * the machine. What the system does not tell is left out. ERROR_MEMORY.
 */
int redactor_add_this_host(struct redactor *redactor, struct error *err);

/* The part of it that each system tells in its own way: serial numbers, and the key. */
int redactor_add_serials(struct redactor *redactor, struct error *err);
