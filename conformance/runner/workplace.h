/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a run depends on: its private directory, the container runtime and the probe image. Remains
 * of earlier runs that died are cleaned up first.
 */

#include "containers/cri/cri.h"
#include "containers/images/images.h"
#include "containers/runtime/runtime.h"
#include "containers/wine/node.h"

#include <cjson/cJSON.h>

struct workplace {
	uv_loop_t *loop;
	char *run_directory;	 /* sockets of checks live below it: short */
	char *own_directory;	 /* removed at the end; NULL when it belongs to the runtime */
	struct runtime *runtime; /* NULL: containers are not used */
	struct images images;
	const char *launcher;	   /* "containerd", "process", "none" */
	char *missing;		   /* why containers cannot be used; "" otherwise */
	uint64_t runtime_ms;	   /* starting the runtime */
	uint64_t image_ms;	   /* composing and importing the images */
	size_t recovered;	   /* earlier runs that died, and were cleaned up after */
	struct text_list restored; /* plugin directories whose files were put back */
	struct text_list resisted; /* what could not be cleaned up, and why */
	struct wine_node wine;	   /* of a Wine node; directory NULL: the node is this machine */
};

struct workplace_options {
	/* "containerd", "process", "none", or NULL to choose: containers, or none where they cannot
	 * be started (runtime_is_offered()), which `missing` then explains. If "containerd" or an
	 * address was asked for, that is an error. A runtime that does not work always is. */
	const char *launcher;
	const char *cri_address; /* an existing runtime; NULL starts a private one */
	const char *containerd;	 /* the private one's program, as in struct runtime_options */
	const struct text_list *cdi_directories; /* as there; may be NULL */
	/* The probe image, which that runtime has; NULL: it is composed and imported. */
	const char *image;
	const struct text_list *handlers; /* which a private one must have; NULL: any */
	bool wine; /* make a Wine node (containers/wine/node.h) in the directory "wine" */
	const char *windows_programs; /* for it; NULL: where wine_node_make() looks */
	const char *windows_dlls;     /* for it, as in struct wine_node */
	uint64_t start_timeout_ms;    /* of the private runtime; 0: RUNTIME_START_MS */
};

/* Before anything is started. ERROR_ARGUMENT: the private runtime's program is missing, or it would lack a handler. */
int workplace_check(const struct workplace_options *options, struct error *err);

int workplace_open(uv_loop_t *loop, const struct workplace_options *options,
		   struct workplace *workplace, struct error *err);

/* Stops the runtime and removes the directories. The first failure is returned after all was tried.
 */
int workplace_close(struct workplace *workplace, struct error *err);

/* The image's configuration, as the container runtime reports it. Caller owns it. NULL: it does not. */
cJSON *workplace_image_spec(const Runtime__V1__ImageStatusResponse *status);
