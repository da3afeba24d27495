/* SPDX-License-Identifier: MIT */
#pragma once

/* How an answer is built; for answer*.c only. The system-specific part adds the items of each device,
 * and resolves two items at one place. */

#include "reference-plugin/answer/answer.h"

enum answer_kind { ANSWER_NODE, ANSWER_MOUNT, ANSWER_VARIABLE };

typedef int answer_compare(const char *a, const char *b);

/* One thing that a container gets. */
struct answer_item {
	enum answer_kind kind;
	const char *place;	 /* path in the container, name of a variable */
	const char *source;	 /* path on the node, value of a variable */
	const char *permissions; /* of a device node; "" otherwise */
	const char *device;	 /* id of the device that it is for */
	bool directory;		 /* the source of a mount is a directory */
	uint64_t rank;		 /* among several at one place the lowest comes first */
	answer_compare *compare; /* set by answer_settle() */
	union {
		V1beta1__DeviceSpec node;
		V1beta1__Mount mount;
		V1beta1__ContainerAllocateResponse__EnvsEntry variable;
	} wire;
};

/* Items reserved for each device, in addition to those that it and the configuration name. */
enum { ANSWER_EXTRA_ITEMS = 8 };

/* Adds an item, whose other members the caller may set. */
struct answer_item *answer_add(struct answer *answer, enum answer_kind kind,
			       const struct discovery_device *device, const char *place,
			       const char *source);

/* Adds a warning. Memory that ran out is in the arena. */
void answer_warn(struct answer *answer, const char *format, ...) PRINTF_LIKE(2, 3);

/* Called when `next` is for the same place as `kept`; `next` is dropped afterwards. */
typedef int answer_join(struct answer *answer, struct answer_item *kept,
			const struct answer_item *next, struct error *err);

/* Sorts the items and keeps one for each place; `compare` compares places. */
int answer_settle(struct answer *answer, answer_compare *compare, answer_join *join,
		  struct error *err);

int answer_build_linux(struct answer *answer, const struct answer_request *request,
		       struct error *err);
int answer_build_windows(struct answer *answer, const struct answer_request *request,
			 struct error *err);
