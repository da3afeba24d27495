/* SPDX-License-Identifier: MIT */
#include "reports/verify.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"

#include <string.h>

/* `resolved` has the separators of the system, a report's path has '/'. */
static bool verify_same_path(const char *resolved, const char *path)
{
	while (*resolved != '\0' && (*resolved == *path || (*resolved == '\\' && *path == '/'))) {
		resolved++;
		path++;
	}
	return *resolved == *path;
}

/* Finds and reads the file; what keeps it from being that of the run is the error. */
static int verify_file(const char *directory, const char *path, size_t bytes, const char *digest,
		       struct error *err)
{
	char *absolute CLEANUP_FREE = text_format("/%s", path);
	char *below CLEANUP_FREE = NULL;
	char *real CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	char seen[DIGEST_SIZE] = "";
	size_t size = 0;
	int rc = absolute != NULL ? file_resolve(directory, absolute, &below, err)
				  : error_memory(err);

	/* A link would let the file be another one tomorrow. */
	if (rc == 0 && !verify_same_path(below, absolute))
		rc = error_set(err, ERROR_FORMAT, "the path leads elsewhere");
	if (rc == 0) {
		real = path_join(directory, path);
		rc = real != NULL ? file_read(real, bytes, &data, &size, err) : error_memory(err);
	}
	if (rc < 0)
		return rc;
	digest_bytes(data, size, seen);
	return strcmp(seen, digest) == 0
		       ? 0
		       : error_set(err, ERROR_FORMAT, "is %s, the journal says %s", seen, digest);
}

static int verify_item(const char *directory, const struct json_at *item, struct text_list *faults,
		       struct error *err)
{
	const char *path = NULL;
	const char *digest = NULL;
	int64_t bytes = 0;
	struct error fault = {0};
	int rc = json_need_string(item, "path", &path, err);

	rc = rc == 0 ? json_need_string(item, "digest", &digest, err) : rc;
	rc = rc == 0 ? json_need_int(item, "bytes", 0, INT32_MAX, &bytes, err) : rc;
	if (rc < 0)
		return rc;
	rc = verify_file(directory, path, (size_t)bytes, digest, &fault);
	if (rc == ERROR_MEMORY)
		return error_memory(err);
	return rc < 0 ? text_list_take(faults, text_format("%s: %s", path, fault.text), err) : 0;
}

static int verify_check(const char *directory, const struct json_at *check,
			struct text_list *faults, struct error *err)
{
	struct json_at evidence = {0};
	const cJSON *node = NULL;
	size_t index = 0;
	int rc = json_need(check, "evidence", JSON_ARRAY, &evidence, err);

	cJSON_ArrayForEach (node, evidence.node) {
		struct json_at item = {.node = node, .parent = &evidence, .index = index++};

		rc = rc == 0 ? verify_item(directory, &item, faults, err) : rc;
	}
	return rc;
}

int verify_evidence(const char *directory, const cJSON *report, struct text_list *faults,
		    struct error *err)
{
	struct json_at root = json_root(report);
	struct json_at checks = {0};
	const cJSON *node = NULL;
	size_t index = 0;
	int rc = json_need(&root, "checks", JSON_ARRAY, &checks, err);

	cJSON_ArrayForEach (node, checks.node) {
		struct json_at check = {.node = node, .parent = &checks, .index = index++};

		rc = rc == 0 ? verify_check(directory, &check, faults, err) : rc;
	}
	return rc;
}
