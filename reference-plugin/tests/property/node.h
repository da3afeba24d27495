/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A node in one process: the fake kubelet and the reference plugin's serving code on one loop, in virtual
 * time, next to the model of what the kubelet must hold. Functions return 0, or ERROR_FORMAT where the model
 * and what was seen differ.
 */

#include "base/error.h"
#include "conformance/kubelet/kubelet.h"
#include "reference-plugin/configuration/config.h"
#include "reference-plugin/serving/instance.h"
#include "reference-plugin/tests/property/model.h"

struct node {
	uv_loop_t loop;
	char *directory, *file; /* the file is the recorded node of the plugin */
	struct config config;
	enum kubelet_profile profile;
	struct kubelet *kubelet;
	struct plugin *plugin; /* NULL: it does not run */
	bool replacing;	       /* beside the one before */
	struct model model;
	bool lies; /* a fault of the test's own: an unhealthy device 3 is written as healthy */
	size_t restlessness; /* grows with registrations, connections that end, starts and stops */
	size_t registrations[RESOURCES], registrations_allowed[RESOURCES];
	uint64_t registered_ms
		[RESOURCES]
		[REGISTER_BURST]; /* this plugin's last attempts, the oldest first; 0: none */
	id_bits allocated
		[RESOURCES];   /* in Allocate calls of the kubelet's own; the caller resets them */
	struct error surprise; /* what an event of the kubelet revealed */
	size_t files, heap;    /* at the first inspection; 0: there was none */
};

extern const char *const node_resources[RESOURCES];

int node_open(struct node *node, enum kubelet_profile profile, struct error *err);
int node_close(struct node *node, struct error *err); /* also fails for a handle that stays open */

int node_write(struct node *node, struct error *err);	     /* the model's devices into the file */
int node_plugin_start(struct node *node, struct error *err); /* beside one that runs: takes over */
void node_plugin_stop(struct node *node);
int node_device(struct node *node, unsigned device, enum device_state state, struct error *err);
int node_scan(struct node *node, struct error *err); /* the plugin looks for devices */

/* Runs the loop until the kubelet holds what the model expects, and nothing happened for a while. */
int node_settle(struct node *node, struct error *err);

/* Restarts the kubelet, and compares the process's descriptors, threads and memory with the first inspection's. */
int node_inspect(struct node *node, struct error *err);

/* The bit of a listed id; 0: it is none of the node's. */
id_bits node_bit_of(const char *id);
