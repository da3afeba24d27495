/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/json.h"

enum {
	YAML_VALUES_MAX = 256 * 1024,
	YAML_BYTES_MAX = 16 * 1024 * 1024, /* of text, repetitions by aliases included */
};

/*
 * A YAML document as JSON. Scalars without quotes are null, booleans and numbers as in YAML 1.1
 * (0660 is octal); their text stays in `valuestring`. Aliases are followed, within YAML_VALUES_MAX values
 * and YAML_BYTES_MAX bytes in all. Caller owns *out.
 *
 * ERROR_FORMAT names the line; ERROR_LIMIT: too many values, or deeper than JSON_DEPTH_MAX. Errors of base/yaml.h.
 */
int yaml_to_json(const char *data, size_t size, cJSON **out, struct error *err);
