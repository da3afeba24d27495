/* SPDX-License-Identifier: MIT */
#pragma once

/* Names in CDI (pkg/parser and internal/validation of cncf-tags/container-device-interface). */

#include <stdbool.h>
#include <stddef.h>

/* A vendor or class: a letter, then letters, digits, '_', '-' and '.', a letter or digit last. */
bool cdi_is_kind_part(const char *name, size_t size);

/* The same, but ':' is allowed and a digit may be first. */
bool cdi_is_device_name(const char *name);

/* A key as in Kubernetes: NAME or PREFIX/NAME; the name at most 63 bytes, the prefix a DNS name of
 * at most 253. Capitals are allowed everywhere. */
bool cdi_is_annotation_key(const char *key);
