/* SPDX-License-Identifier: MIT */
#pragma once

/* Loads one YAML document: the library `yaml`, linked only by programs that read YAML. */

#include "base/error.h"

#include <yaml.h>

/* Loads UTF-8 text with one document, or none: then *out has no root node. `name` is the file's, for
 * messages ("NAME:3: ..."); NULL: they begin with "line 3: ". The caller frees *out by
 * yaml_document_delete(), whatever is returned. ERROR_FORMAT: not YAML, or a second document;
 * ERROR_MEMORY. */
int yaml_load(const char *name, const char *data, size_t size, yaml_document_t *out,
	      struct error *err);

/* Fails at a node: "NAME:3: " or "line 3: " is put before the text. */
int yaml_wrong(const char *name, const yaml_node_t *node, struct error *err, int code,
	       const char *format, ...) PRINTF_LIKE(5, 6);

/* The text of a scalar; NULL when the node is not a scalar, or contains a NUL. */
const char *yaml_scalar(const yaml_node_t *node);
