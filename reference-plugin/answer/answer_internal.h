/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of answer_build(), one file each: answer*.c alone. */

#include "reference-plugin/answer/answer.h"

struct answer_request {
	const struct answer_host *host;
	const struct answer_rules *rules;
	const struct discovery_device *const *devices;
	size_t count;
};

/* With the id of the device that each is for. */
struct answer_node {
	V1beta1__DeviceSpec spec;
	const char *device;
};

struct answer_variable {
	V1beta1__ContainerAllocateResponse__EnvsEntry entry;
	const char *device;
};

/* Linux. */
int answer_add_mounts(struct answer *answer, const struct answer_request *request,
		      struct error *err);
int answer_add_nodes(struct answer *answer, const struct answer_request *request,
		     struct error *err);
int answer_add_variables(struct answer *answer, const struct answer_request *request,
			 struct error *err);

/* Windows. */
int answer_add_device_strings(struct answer *answer, const struct answer_request *request,
			      struct error *err);
int answer_add_driver_files(struct answer *answer, const struct answer_request *request,
			    struct error *err);

/* stat(2) of one of the node's files as it is seen here. */
int answer_stat(const struct answer_host *host, const char *path, struct stat *status);
