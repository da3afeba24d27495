/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a run knows before its first check and shares with all of them. The runner writes it to
 * context.json in the run's directory; each check's process reads it.
 */

#include "base/arena.h"
#include "base/text.h"
#include "conformance/runner/pod_resources.h"
#include "containers/inspect/manifest.h"
#include "reports/redact/redact.h"

#include <gpucert/discovery.h>
#include <stdbool.h>
#include <stdint.h>

/* A profile: 1.36, and where the rule of a check differs between kubelets 1.37 as well. */
#define CONTEXT_BOTH_KUBELETS "both"

/* In the run's directory: digests of files that the run has read (base/digest_cache.h). */
#define CONTEXT_DIGESTS_FILE "digests"

struct context {
	const char *run_id;	    /* in the labels of containers */
	const char *run_directory;  /* private, short: sockets live below it */
	const char *out_directory;  /* journal, evidence and reports */
	const char *plugin_command; /* how the plugin under test is started; NULL: it is attached */
	bool reference_plugin;	    /* the plugin under test is the project's own */
	bool hidden_directory;	    /* the plugin hard-codes the kubelet's directory: private mount
				       namespace */
	const char *attach_directory; /* directory in which an attached plugin looks for
					 kubelet.sock; or NULL */
	const char *resource;	      /* the only resource under test; NULL: all */
	/* Commands that make the device in DEVICE_ID fail, and work again; both or neither. */
	const char *fail_device, *restore_device;
	struct text_list optional_calls; /* that the plugin must offer; check.h */
	const char *kubelet_profile;	 /* one of report_kubelet_names, or CONTEXT_BOTH_KUBELETS */
	const char *launcher;		 /* "containerd", "process", or "none" */
	const char *launcher_missing;	 /* why there is no launcher; "" otherwise */
	const char *cri_address;	 /* of the container runtime; "" without one */
	const char *cgroup_parent;	 /* for containers; "" for the runtime's own */
	const char *probe_image;	 /* reference of the probe image; "" without a runtime */
	const char *node_file;	    /* recorded node that the plugin under test reads; NULL: live */
	const char *wine_directory; /* of the Wine node (containers/wine/node.h); NULL: none */
	bool immutable;	    /* the image has its own drivers: a container gets only device nodes */
	bool launch_anyway; /* launches are tried even if they are predicted to fail */
	bool keep;	    /* a check stops at its first failure (conformance/runner/keep.h) */
	bool thorough;	    /* waits take the time that the requirement states */
	int64_t timeout_percent; /* scales the harness' time limits: 100 is unscaled */

	/* Where the node's CDI Specs are (struct runtime_options); empty without a live node. */
	struct text_list cdi_directories;

	struct image_manifest image; /* of the probe image; empty without one */
	const struct discovery_snapshot
		*node;			 /* the independent enumeration: the truth of the run */
	const struct redactor *redactor; /* of evidence, as of the journal; NULL: none */

	/* For sandboxes: the first for all of them, the others to judge isolation as well. Empty: the
	 * runtime's own. */
	struct text_list runtime_handlers;

	/* Devices that pods of the node held before the run; none without --pod-resources. */
	struct held_device *held;
	size_t held_count;

	struct arena arena; /* owns strings and lists of a context that was read */
};

/* Reads context.json, and next to it the node (node.json) and the probe image's content (image.json).
 * Free with context_free(). */
int context_read(const char *run_directory, struct context *context, struct error *err);
int context_write(const struct context *context, struct error *err);
void context_free(struct context *context);

/* The runtime handler at an index; NULL: the runtime's own, which is the only one then. */
const char *context_handler(const struct context *context, size_t index);

/* Does the plugin see plugins_registry: in its mount namespace, or by its command (subject/plugin_process.h)? */
bool context_uses_registry(const struct context *context);

/* A time limit of the harness' own, scaled for this run. */
uint64_t context_limit_ms(const struct context *context, uint64_t limit_ms);

/* How long to wait for an event that must happen within `limit_ms`: longer in a run that is scaled
 * up, never shorter. The verdict uses the limit itself. */
uint64_t context_wait_ms(const struct context *context, uint64_t limit_ms);
