/* SPDX-License-Identifier: MIT */
#pragma once

/* Parts of a script: values, device lists, answers, faults. Absent members leave the target as it
 * is. */

#include "base/json.h"
#include "conformance/kubelet/doubles/script.h"

/* ERROR_FORMAT naming the first member whose key is not in the NULL-ended list. */
int script_only_keys(const struct json_at *object, const char *const *keys, struct error *err);
int script_read_count(const struct json_at *at, const char *key, uint64_t *out, struct error *err);
int script_read_string(const struct json_at *at, const char *key, char **out, struct error *err);
int script_read_strings(const struct json_at *at, const char *key, char ***out, size_t *count,
			struct error *err);
void script_strings_free(char **strings, size_t count);

/* "code": a gRPC status, number or name. */
int script_read_code(const struct json_at *at, int *out, struct error *err);

/* "devices", "device_count", "device_prefix" of an object. */
int script_read_devices(const struct json_at *at, struct kubelet_device_list *out,
			struct error *err);

int script_read_template(const struct json_at *parent, const char *key, struct script_template *out,
			 struct error *err);
void script_template_free(struct script_template *template);

/* The answers of "ids", by id. */
int script_read_own(const struct json_at *parent, struct script *script, struct error *err);

int script_read_fault(const struct json_at *parent, const char *key, struct script_fault *out,
		      struct error *err);
