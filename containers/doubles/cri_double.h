/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A container runtime whose answers a test sets: for answers that a real runtime does not give on
 * demand. By default each method answers with an empty message of its type; unknown methods are
 * UNIMPLEMENTED.
 */

#include "rpc/proto/cri_v1.pb-c.h"

#include <uv.h>

struct cri_double;

/* Serves runtime.v1 at "unix:PATH" on the loop. Ends the program when it cannot. */
struct cri_double *cri_double_open(uv_loop_t *loop, const char *address);
void cri_double_close(struct cri_double *runtime);

/* From now on the method answers with this status and no message. */
void cri_double_fail(struct cri_double *runtime, const char *name, int code, const char *text);
/* From now on no method answers. */
void cri_double_hang(struct cri_double *runtime);
/* The method answers with this message, packed now. */
void cri_double_answer(struct cri_double *runtime, const char *name,
		       const ProtobufCMessage *message);

/* How often the method was called. */
unsigned cri_double_calls(const struct cri_double *runtime, const char *name);

/* The last request to the method; NULL when there was none, or it is not a message of this type.
 * The caller frees (CLEANUP_CRI_REPLY). */
void *cri_double_request(const struct cri_double *runtime, const char *name,
			 const ProtobufCMessageDescriptor *type);
