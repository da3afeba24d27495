/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * This folder (answer/) holds the answers to Allocate and GetPreferredAllocation.
 *
 * This file computes what one container gets for a set of devices: device nodes or device strings,
 * mounts and environment variables. It knows nothing of the kubelet: tools that launch containers
 * themselves use the same answers.
 *
 * The answer depends only on the set: everything in it is sorted. An item that several devices need
 * is listed once.
 *
 * Devices of Linux that contradict each other are an error, because a container that silently lacks
 * one driver's file fails later and far away. On Windows every driver brings an OpenCL.dll, so
 * there the first one is mounted and `warnings` names the others.
 */

#include "base/arena.h"
#include "base/text.h"
#include "reference-plugin/configuration/additional_mounts.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#include <gpucert/discovery.h>
#include <stddef.h>

/* How a container gets a Windows device. */
enum answer_allocation {
	ANSWER_LOCATION_PATH, /* "vpci-location-path://PCIROOT(0)#PCI(1B00)" */
	ANSWER_CLASS, /* "class/5B45201D-...": every display adapter of the node, and variables that
			 say which one is meant */
};

/* The kind of the CDI devices that stand for a node's devices, under their ids. */
#define ANSWER_CDI_KIND "gpucert.internal/gpu"

/* The configuration of answers. Zeroed: the defaults. */
struct answer_rules {
	enum answer_allocation allocation;
	/* Several Windows devices for one container: a kubelet up to 1.36 passes only the first one
	 * on, because all have an empty container path (pod_devices.go). Refused unless set. */
	bool allow_several;
	bool skip_runtime_mounts; /* on Windows: no files */
	bool cdi; /* on Linux: names of CDI devices, and only additional mounts next to them */
	const struct additional_mounts *additional; /* NULL: none */
};

/* Who asks for what. */
struct answer_request {
	bool windows;	  /* the node that the devices belong to */
	bool recorded;	  /* its nodes and files need not exist here */
	const char *root; /* where this process sees the node's files; "" or NULL: "/" */
	const struct answer_rules *rules;
	const struct discovery_device *const *devices; /* each once, sorted by id */
	size_t count;
};

struct answer {
	V1beta1__ContainerAllocateResponse message; /* borrows from arena, devices and rules */
	struct answer_item *items;
	size_t count;
	struct arena arena; /* of the items, of strings and of the message's arrays */
	struct {
		const char **items;
		size_t count;
	} warnings; /* requested items that the container does not get */
};

/*
 * `out` is zeroed; free it with answer_free(), also after an error. Mounts of a device win over
 * additional ones at the same destination.
 *
 * On Linux every source must exist and have the right type, unless the node is a recorded one: a
 * container runtime creates an empty directory for a missing source, silently. On Windows a file
 * that is missing, would be mounted outside of System32 and SysWOW64, or comes from outside the
 * driver's directory, is left out and named in `warnings`.
 *
 * With rules->cdi the items of a device are still checked, and the runtime finds them in a CDI Spec.
 * CDI keeps one value of a variable, so devices whose values would be joined are refused.
 *
 * ERROR_IO: a file or device node is missing or of the wrong type; ERROR_UNSUPPORTED: the devices
 * contradict each other, CDI cannot pass them, nothing would give access to a device, or several
 * Windows devices and the rules do not allow that; ERROR_MEMORY.
 */
int answer_build(const struct answer_request *request, struct answer *out, struct error *err);

void answer_free(struct answer *answer);
