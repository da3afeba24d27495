/* SPDX-License-Identifier: MIT */
#pragma once

/* The events that are calls: of containers that are admitted, and raw ones. */

#include "reference-plugin/tests/property/events.h"

int call_admit(const struct event *event, struct node *node, struct error *err);
int call_remove(const struct event *event, struct node *node, struct error *err);
int call_start(const struct event *event, struct node *node, struct error *err);
int call_allocate(const struct event *event, struct node *node, struct error *err);
int call_preferred(const struct event *event, struct node *node, struct error *err);
int call_pre_start(const struct event *event, struct node *node, struct error *err);

void describe_admit(const struct event *event, struct text *out);
void describe_pod(const struct event *event, struct text *out);
void describe_call(const struct event *event, struct text *out);
void describe_preferred(const struct event *event, struct text *out);
