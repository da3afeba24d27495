/* SPDX-License-Identifier: MIT */
#include "reports/render.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/view.h"

/* `resolved` has the system's separators, a report's path has '/'. */
static bool same_path(const char *resolved, const char *path)
{
	while (*resolved != '\0' && (*resolved == *path || (*resolved == '\\' && *path == '/'))) {
		resolved++;
		path++;
	}
	return *resolved == *path;
}

int report_read_file(const char *directory, const char *path, size_t max, char **data, size_t *size,
		     struct error *err)
{
	char *absolute CLEANUP_FREE = text_format("/%s", path);
	char *real CLEANUP_FREE = path_join(directory, path);
	char *below CLEANUP_FREE = NULL;
	struct file_status status = {0};
	/* With a link the file could later be another one. */
	int rc = file_status(real, false, &status, err);
	if (rc == 0 && status.kind == FILE_LINK)
		return error_set(err, ERROR_FORMAT, "a symbolic link leads out of the folder");
	if (rc == 0)
		rc = file_resolve(directory, absolute, &below, err);
	if (rc == 0 && !same_path(below, absolute))
		rc = error_set(err, ERROR_FORMAT, "the path leads out of the folder");
	return rc == 0 ? file_read_regular(real, false, max, data, size, err) : rc;
}

int report_read_evidence(const char *directory, const cJSON *evidence, char **data, size_t *size,
			 struct error *err)
{
	const char *digest = view_string(evidence, "/digest");
	const int64_t stated = view_int(evidence, "/bytes");
	const size_t max = stated < 0			  ? 0
			   : stated < REPORT_EVIDENCE_MAX ? (size_t)stated
							  : REPORT_EVIDENCE_MAX;
	char *read CLEANUP_FREE = NULL;
	char seen[DIGEST_SIZE] = "";
	int rc = report_read_file(directory, view_string(evidence, "/path"), max, &read, size, err);
	if (rc == ERROR_LIMIT)
		return error_set(err, rc, "longer than %zu bytes, and so not what the run stored",
				 max);
	if (rc < 0)
		return rc;
	digest_bytes(read, *size, seen);
	if (!text_equal(seen, digest))
		return error_set(err, ERROR_FORMAT, "is %s, the journal says %s", seen, digest);
	*data = STEAL(read);
	return 0;
}

void report_verify_evidence(const char *directory, const cJSON *report, struct text_list *faults)
{
	json_each (check, json_pointer(report, "/checks")) {
		json_each (item, json_pointer(check, "/evidence")) {
			char *data CLEANUP_FREE = NULL;
			struct error fault = {0};
			size_t size = 0;
			if (report_read_evidence(directory, item, &data, &size, &fault) < 0)
				text_list_addf(faults, "%s: %s", view_string(item, "/path"),
					       fault.text);
		}
	}
}
