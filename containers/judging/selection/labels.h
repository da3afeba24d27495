/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Facts of a host as labels, so that a cluster can pick nodes by the facts that the rules of compat/ depend on.
 *
 * Names and values are those of Kubernetes (Labels and Selectors, "Syntax and character set"): at most 63
 * characters of A-Z a-z 0-9 '-' '_' '.', the first and the last of them a letter or a digit; a value may
 * be empty. Other characters of a fact become '_', and a long one is cut. An unknown fact has no label.
 * With several GPUs of one vendor the label has the lowest value, which all of them support.
 */

#include "base/text.h"
#include "containers/judging/compat/host.h"

/* In front of a node's labels: "gpucert.internal/cpu-level"; in a feature file of NFD, which puts
 * "feature.node.kubernetes.io/" before it: "gpucert-cpu-level". */
#define LABEL_PREFIX	 "gpucert.internal/"
#define LABEL_NFD_PREFIX "gpucert-"

enum {
	LABEL_TEXT_MAX = 63,
	LABEL_NAME_MAX = LABEL_TEXT_MAX - (int)sizeof(LABEL_NFD_PREFIX) + 1, /* behind either */
};

/* Adds one line "PREFIX NAME=VALUE" a fact, without the space, in a fixed order, each name once. */
void labels_of_host(const struct host_facts *host, const char *prefix, struct text *out);

/* Makes a fact a valid name or value of at most `max` bytes, "" if that is impossible. `out` has
 * room for `max` + 1. */
void label_text(const char *fact, size_t max, char *out);
