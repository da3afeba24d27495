/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The virtual machine of `gpucert run --node vm`: a Linux node with virtual GPUs behind a real kernel driver (containers/vm/).
 * This program is replaced by vm-run, which runs gpucert with the same command line in the machine; there the run's node is
 * that machine itself.
 */

#include "base/error.h"

#include <stdint.h>

#define RUN_VM_NODE "vm" /* of --node; a file of that name is "./vm" */

struct run_vm {
	int64_t memory; /* MiB */
	int64_t cpus;	/* 0: as many as here */
};

/* `arguments`: those of the command line, "run" and what follows it; `out`, which is made, gets the report and vm-console.log.
 * Returns only when vm-run cannot be started: ERROR_NOT_FOUND without vm-run, ERROR_IO. */
int run_vm_start(const struct run_vm *vm, const char *out, const char *const *arguments,
		 struct error *err);
