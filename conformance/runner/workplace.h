/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_RUNNER_WORKPLACE_H
#define CONFORMANCE_RUNNER_WORKPLACE_H

/*
 * What a run stands on: its private directory, the container runtime and the probe image. What
 * earlier runs that died left behind is cleaned up first.
 */

#include "containers/images/images.h"
#include "containers/runtime/runtime.h"

struct workplace {
	uv_loop_t *loop;
	char *run_directory;	 /* sockets of checks live below it: short */
	char *own_directory;	 /* removed at the end; NULL when it belongs to the runtime */
	struct runtime *runtime; /* NULL: containers are not used */
	struct images images;
	const char *launcher; /* "containerd", "process", "none" */
	char *missing;	      /* why containers were wanted and cannot be had; "" otherwise */
	uint64_t runtime_ms;  /* starting the runtime */
	uint64_t image_ms;    /* composing and importing the images */
	struct runtime_recovered recovered;
};

/* `launcher`: "containerd", "process", or NULL to choose: containers where they can be had, else
 * none. `cri_address`: an existing runtime; NULL starts a private one. With "containerd" asked for,
 * its absence is an error; else it is told in `missing`. */
int workplace_open(uv_loop_t *loop, const char *launcher, const char *cri_address,
		   struct workplace *workplace, struct error *err);

/* Stops the runtime and removes the directories. The first failure is returned after all was tried.
 */
int workplace_close(struct workplace *workplace, struct error *err);

#endif
