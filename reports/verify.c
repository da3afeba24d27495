/* SPDX-License-Identifier: MIT */
#include "reports/render.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/view.h"

#include <string.h>

/* `resolved` has the separators of the system, a report's path has '/'. */
static bool same_path(const char *resolved, const char *path)
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
	struct file_status status = {0};
	char seen[DIGEST_SIZE] = "";
	int rc = absolute != NULL ? file_resolve(directory, absolute, &below, err)
				  : error_memory(err);
	/* A link would let the file be another one tomorrow. */
	if (rc == 0 && !same_path(below, absolute))
		rc = error_set(err, ERROR_FORMAT, "the path leads elsewhere");
	if (rc == 0) {
		real = path_join(directory, path);
		rc = real != NULL ? file_status(real, false, &status, err) : error_memory(err);
	}
	if (rc == 0 && status.kind != FILE_REGULAR)
		rc = error_set(err, ERROR_FORMAT, "not a file");
	if (rc == 0 && status.size > bytes)
		rc = error_set(err, ERROR_LIMIT, "longer than %zu bytes", bytes);
	if (rc == 0)
		rc = digest_file(real, seen, NULL, err);
	if (rc < 0)
		return rc;
	return strcmp(seen, digest) == 0
		       ? 0
		       : error_set(err, ERROR_FORMAT, "is %s, the journal says %s", seen, digest);
}

int report_verify_evidence(const char *directory, const cJSON *report, struct text_list *faults,
			   struct error *err)
{
	int rc = 0;
	json_each (check, json_pointer(report, "/checks")) {
		json_each (item, json_pointer(check, "/evidence")) {
			const char *path = view_string(item, "/path");
			struct error fault = {0};
			if (rc == 0)
				rc = verify_file(directory, path, (size_t)view_int(item, "/bytes"),
						 view_string(item, "/digest"), &fault);
			if (rc == ERROR_MEMORY)
				return error_memory(err);
			if (rc < 0)
				rc = text_list_take(faults, text_format("%s: %s", path, fault.text),
						    err);
		}
	}
	return rc;
}
