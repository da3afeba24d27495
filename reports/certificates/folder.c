/* SPDX-License-Identifier: MIT */
#include "reports/certificates/folder.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/journal.h"
#include "reports/render.h"
#include "reports/report_file.h"
#include "reports/view.h"

const char *const folder_file_names[] = {
	[FOLDER_REPORT] = "report.json",   [FOLDER_JOURNAL] = JOURNAL_FILE_NAME,
	[FOLDER_JUNIT] = "junit.xml",	   [FOLDER_PAGE] = "report.html",
	[FOLDER_MARKDOWN] = "report.md",   [FOLDER_CLAIMS] = "claims.json",
	[FOLDER_PRODUCT] = "product.yaml", [FOLDER_README] = "README.md",
	[FOLDER_FILE_COUNT] = NULL,
};

const char *folder_change(enum folder_file_name name)
{
	return name == FOLDER_REPORT	? "tampered-report"
	       : name == FOLDER_JOURNAL ? "tampered-journal"
					: "changed-file";
}

void folder_put(struct folder *folder, enum folder_file_name name, char *data, size_t size)
{
	struct folder_file *file = &folder->files[name];
	free(file->data);
	*file = (struct folder_file){.data = data, .size = size};
	if (data != NULL)
		digest_bytes(data, size, file->digest);
}

static void read_file(struct folder *folder, enum folder_file_name name, struct faults *faults)
{
	const char *file = folder_file_names[name];
	struct error why = {0};
	char *data = NULL;
	size_t size = 0;
	int rc = report_read_file(folder->path, file, JSON_FILE_MAX, &data, &size, &why);
	folder_put(folder, name, data, size);
	folder->files[name].untrusted = rc < 0 && rc != ERROR_NOT_FOUND;
	if (folder->files[name].untrusted) {
		char *path CLEANUP_FREE = path_join(folder->path, file);
		struct file_status status = {0};
		const bool is_link =
			file_status(path, false, &status, NULL) == 0 && status.kind == FILE_LINK;
		faults_take(faults, &why, is_link ? "symbolic-link" : folder_change(name), file);
	}
	if (rc == ERROR_NOT_FOUND && name <= FOLDER_JOURNAL)
		faults_add(faults, "missing-file", "%s is missing%s", file,
			   name == FOLDER_REPORT
				   ? ": 'gpucert report --out' makes it of the journal"
				   : "");
}

int folder_open(const char *path, struct folder *out, struct faults *faults, struct error *err)
{
	const struct folder_file *file = &out->files[FOLDER_REPORT];
	const struct folder_file *journal = &out->files[FOLDER_JOURNAL];
	cJSON *report CLEANUP_JSON = NULL;
	struct view view CLEANUP_VIEW = {0};
	struct error why = {0};
	int rc = 0;
	*out = (struct folder){.path = path};
	if (!file_is_directory(path))
		return error_set(err, ERROR_NOT_FOUND,
				 "%s: not a folder: name that of a run (--out)", path);
	for (enum folder_file_name name = 0; name < FOLDER_FILE_COUNT; name++)
		read_file(out, name, faults);

	if (file->data != NULL) {
		rc = report_parse(file->data, file->size, NULL, &report, &why);
		if (rc == 0)
			rc = view_open(report, &view, &why);
		if (rc == 0)
			out->report = STEAL(report);
		else
			faults_take(faults, &why, "tampered-report", "report.json is not a report");
	}

	if (journal->data != NULL) {
		rc = journal_parse(JOURNAL_FILE_NAME, journal->data, journal->size, &out->log,
				   &why);
		if (rc == 0 && out->log.unchained != 0)
			rc = error_set(&why, ERROR_FORMAT,
				       JOURNAL_FILE_NAME ":%zu: not the digest of the line before",
				       out->log.unchained);
		if (rc == 0)
			rc = report_render(&out->log, &out->made, &why);
		if (rc < 0) {
			journal_log_free(&out->log);
			faults_take(faults, &why, "broken-journal",
				    "the journal was changed after the run, or is not one");
		}
	}
	return 0;
}

enum { SEARCHED_MAX = 1000 }; /* search effort for members in another order */

/* Does `made` contain everything in `stored`? */
static bool is_part_of(const cJSON *stored, const cJSON *made)
{
	const cJSON *other = made != NULL ? made->child : NULL;
	const bool small = cJSON_GetArraySize(made) <= SEARCHED_MAX;
	if (!cJSON_IsObject(stored) && !cJSON_IsArray(stored))
		return cJSON_Compare(stored, made, true);
	if (made == NULL || (stored->type & 0xff) != (made->type & 0xff))
		return false;
	json_each (child, stored) {
		if (cJSON_IsObject(stored) && small &&
		    (other == NULL || !text_equal(other->string, child->string)))
			other = cJSON_GetObjectItemCaseSensitive(made, child->string);
		if (!is_part_of(child, other) || !text_equal(child->string, other->string))
			return false;
		other = other->next;
	}
	return cJSON_IsObject(stored) || other == NULL;
}

bool folder_is_sound(const struct folder *folder)
{
	return folder->report != NULL && folder->made != NULL &&
	       !folder->files[FOLDER_REPORT].untrusted && !folder->files[FOLDER_JOURNAL].untrusted;
}

const cJSON *folder_checks(const struct folder *folder)
{
	return json_pointer(folder->made != NULL && (folder->report == NULL ||
						     !folder->files[FOLDER_JOURNAL].untrusted)
				    ? folder->made
				    : folder->report,
			    "/checks");
}

void folder_read_papers(struct folder *folder, struct faults *faults)
{
	const struct folder_file *claims = &folder->files[FOLDER_CLAIMS];
	const struct folder_file *product = &folder->files[FOLDER_PRODUCT];
	struct error why = {0};
	if (claims->data != NULL &&
	    claims_parse(claims->data, claims->size, &folder->claims, &why) < 0)
		faults_take(faults, &why, "claims", "claims.json");
	if (product->data != NULL &&
	    product_parse(product->data, product->size, &folder->product, &why) < 0)
		faults_take(faults, &why, "product", "product.yaml");
}

void folder_check(struct folder *folder, struct faults *faults)
{
	size_t count = 0;
	const char *version = view_string(folder->report, "/run/harness/version");
	const bool own = text_equal(version, GPUCERT_VERSION);
	if (folder_is_sound(folder) && (!is_part_of(folder->report, folder->made) ||
					(own && !is_part_of(folder->made, folder->report))))
		faults_add(faults, "report-not-of-journal",
			   "report.json is not what gpucert %s makes of the journal of a run by "
			   "gpucert %s; 'gpucert report --out' makes it again",
			   GPUCERT_VERSION, version);
	json_each (check, folder_checks(folder)) {
		json_each (item, json_pointer(check, "/evidence")) {
			const char *path = view_string(item, "/path");
			char *data CLEANUP_FREE = NULL;
			struct error why = {0};
			size_t size = 0;
			if (text_index_put(&folder->evidence, path, count) != count) {
				faults_add(faults, "changed-evidence", "%s is named twice", path);
				continue;
			}
			count++;
			int rc = text_starts_with(path, "evidence/")
					 ? report_read_evidence(folder->path, item, &data, &size,
								&why)
					 : error_set(&why, ERROR_FORMAT, "not below evidence/");
			if (rc == ERROR_NOT_FOUND)
				faults_add(faults, "missing-evidence", "%s is missing", path);
			else if (rc < 0)
				faults_take(faults, &why, "changed-evidence", path);
		}
	}
}

void folder_free(struct folder *folder)
{
	for (size_t i = 0; i < FOLDER_FILE_COUNT; i++)
		free(folder->files[i].data);
	cJSON_Delete(folder->report);
	cJSON_Delete(folder->made);
	journal_log_free(&folder->log);
	text_index_free(&folder->evidence);
	claims_free(&folder->claims);
	product_free(&folder->product);
	*folder = (struct folder){0};
}
