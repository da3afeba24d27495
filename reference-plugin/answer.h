/* SPDX-License-Identifier: MIT */
#ifndef REFERENCE_PLUGIN_ANSWER_H
#define REFERENCE_PLUGIN_ANSWER_H

/*
 * What one container is given for a set of devices: device nodes, mounts and environment variables.
 *
 * The answer depends on the set alone: everything in it is sorted. Where several devices ask for
 * the same thing it is given once. Where they contradict each other the answer is an error, because
 * a container that silently lacks one driver's file fails later and far away.
 */

#include "base/error.h"
#include "base/text.h"
#include "reference-plugin/additional_mounts.h"
#include "reference-plugin/inventory.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#include <stddef.h>
#include <sys/stat.h>

struct answer {
	V1beta1__ContainerAllocateResponse message; /* borrows from below, inventory and mounts */
	struct answer_mount *mounts;
	struct answer_node *nodes;
	struct answer_variable *variables;
	struct text_list strings;
};

/*
 * `devices` are indices into the inventory, each once, ascending; all of them are found (not gone).
 * `out` is zeroed. Mounts of a device win over additional ones at the same destination.
 *
 * Every source must exist and have the right type, unless the inventory is a recorded one: a
 * container runtime creates an empty directory for a missing source, silently.
 *
 * ERROR_IO: a file or device node is missing or of the wrong type; ERROR_UNSUPPORTED: the devices
 * contradict each other, or there is nothing that would give access to a device; ERROR_MEMORY.
 */
int answer_build(const struct inventory *inventory, const size_t *devices, size_t count,
		 const struct additional_mounts *additional, struct answer *out, struct error *err);

void answer_free(struct answer *answer);

/* stat(2) of one of the node's files as it is seen here (inventory.h, `root`). */
int answer_stat(const struct inventory *inventory, const char *path, struct stat *status);

/* The parts of answer_build(), one file each. */
int answer_add_mounts(struct answer *answer, const struct inventory *inventory,
		      const size_t *devices, size_t count,
		      const struct additional_mounts *additional, struct error *err);
int answer_add_nodes(struct answer *answer, const struct inventory *inventory,
		     const size_t *devices, size_t count, struct error *err);
int answer_add_variables(struct answer *answer, const struct inventory *inventory,
			 const size_t *devices, size_t count, struct error *err);

#endif
