/* SPDX-License-Identifier: MIT */
#include "reports/certificates/certify.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/certificates/statement.h"
#include "reports/environment.h"
#include "reports/render.h"
#include "reports/view.h"

#include <string.h>

/* Removes the items that `keep` refuses, unless it refuses all. */
static void keep_items(cJSON *array, const cJSON *with,
		       bool (*keep)(const cJSON *with, const cJSON *item))
{
	size_t kept = 0;
	json_each (item, array)
		kept += keep(with, item);
	for (int i = cJSON_GetArraySize(array) - 1; kept != 0 && i >= 0; i--) {
		if (!keep(with, cJSON_GetArrayItem(array, i)))
			cJSON_DeleteItemFromArray(array, i);
	}
}

/* Did a check pass on the device? */
static bool keep_device(const cJSON *report, const cJSON *device)
{
	const char *ref = view_string(device, "/ref");
	json_each (check, json_pointer(report, "/checks")) {
		json_each (outcome, json_pointer(check, "/deviceOutcomes")) {
			if (view_is(outcome, "/ref", ref) && view_is(outcome, "/outcome", "pass"))
				return true;
		}
	}
	return false;
}

static bool keep_driver(const cJSON *devices, const cJSON *driver)
{
	json_each (device, devices) {
		if (view_is(device, "/driver", view_string(driver, "/key")))
			return true;
	}
	return false;
}

void certify_subject(const cJSON *report, struct text_list *lines)
{
	static const char *const names[][2] = {{"devices", "devices"}, {"drivers", "drivers"},
					       {"system", "os"},       {"plugin", "plugin"},
					       {"runtime", "runtime"}, {"harness", "harness"}};
	cJSON *environment CLEANUP_JSON =
		cJSON_Duplicate(json_pointer(report, "/environment"), true);
	cJSON *devices = cJSON_GetObjectItemCaseSensitive(environment, "devices");
	cJSON *drivers = cJSON_GetObjectItemCaseSensitive(environment, "drivers");
	struct text_list digests CLEANUP_TEXT_LIST = {0};
	bool hardware = json_first(drivers) == NULL, is_virtual = false;
	keep_items(devices, report, keep_device);
	keep_items(drivers, devices, keep_driver);
	json_each (driver, drivers) {
		const bool virtual_driver = view_is(driver, "/model", REPORT_MODEL_VIRTUAL);
		is_virtual |= virtual_driver;
		hardware |= !virtual_driver && !json_pointer_true(driver, "/software");
	}

	/* The code files that containers had, each once. */
	json_each (device, devices) {
		json_each (ran, json_pointer(device, "/ran")) {
			json_each (file, json_pointer(ran, "/files")) {
				const char *digest = view_string(file, "/digest");
				if (!text_list_has(&digests, digest))
					text_list_add(&digests, digest);
			}
		}
	}

	if (!hardware)
		text_list_add(lines, is_virtual ? CERTIFY_VIRTUAL_ONLY : CERTIFY_SOFTWARE_ONLY);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct text value CLEANUP_TEXT = {0};
		struct text line CLEANUP_TEXT = {0};
		environment_add_names(names[i][1], environment, &value);
		text_addf(&line, "%s: ", names[i][0]);
		text_add_escaped(&line, text_string(&value), value.size);
		if (value.size > 0)
			text_list_take(lines, text_take(&line));
		if (i == 1 && digests.count != 0)
			text_list_addf(lines,
				       "driver files: %zu, by digest in " ATTESTATION_FILE_NAME,
				       digests.count);
	}
}

/* README.md: the certified product, in an indented block, escaped, and how to check it. */
static char *make_readme(const struct product *product, const cJSON *report)
{
	const char *const texts[] = {product->name, product->version, product->vendor};
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	struct text text CLEANUP_TEXT = {0};
	certify_subject(report, &lines);
	const char *first = lines.count > 0 ? lines.items[0] : "";
	const bool limited =
		text_equal(first, CERTIFY_SOFTWARE_ONLY) || text_equal(first, CERTIFY_VIRTUAL_ONLY);
	text_add(&text, "# Certified with gpucert");
	if (limited)
		text_addf(&text, " (%s)", first);
	text_add(&text, "\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		text_add(&text, "    ");
		view_add_escaped(&text, texts[i]);
		text_add(&text, "\n");
	}
	for (size_t i = limited ? 1 : 0; i < lines.count; i++)
		text_addf(&text, "    %s\n", lines.items[i]);
	text_add(
		&text,
		"\nHow the run ended is in `report.md` and `report.html`; what was not tested, and "
		"why, in `claims.json`, if anything. Check this folder with the vendor's public "
		"key: `gpucert certify check . --key vendor.key.pub`.\n");
	return text_take(&text);
}

static int write_below(const char *out, const char *name, const void *data, size_t size,
		       struct error *err)
{
	char *path CLEANUP_FREE = path_join(out, name);
	char *parent CLEANUP_FREE = path_directory(path);
	int rc = file_make_directories(parent, 0755, err);
	return rc == 0 ? file_write_atomic(path, data, size, 0644, err) : rc;
}

/* The report's formats are generated again; report and journal are the run's own bytes. */
static int write_files(const struct folder *folder, const char *out, struct error *err)
{
	static const enum folder_file_name taken[] = {FOLDER_REPORT, FOLDER_JOURNAL, FOLDER_CLAIMS,
						      FOLDER_PRODUCT};
	char *readme CLEANUP_FREE = make_readme(&folder->product, folder->report);
	int rc = write_below(out, folder_file_names[FOLDER_README], readme, strlen(readme), err);
	if (rc == 0)
		rc = report_write_directory(out, folder->report, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(taken); i++) {
		const struct folder_file *file = &folder->files[taken[i]];
		if (file->data != NULL)
			rc = write_below(out, folder_file_names[taken[i]], file->data, file->size,
					 err);
	}
	json_each (check, folder_checks(folder)) {
		json_each (item, json_pointer(check, "/evidence")) {
			char *data CLEANUP_FREE = NULL;
			size_t size = 0;
			if (rc == 0)
				rc = report_read_evidence(folder->path, item, &data, &size, err);
			if (rc == 0)
				rc = write_below(out, view_string(item, "/path"), data, size, err);
		}
	}
	return rc;
}

/* Puts a given file at its place in the folder. */
static int take_file(struct folder *folder, enum folder_file_name name, const char *path,
		     struct error *err)
{
	char *data = NULL;
	size_t size = 0;
	if (path == NULL)
		return 0;
	int rc = file_read(path, PRODUCT_FILE_MAX, &data, &size, err);
	if (rc == 0)
		folder_put(folder, name, data, size);
	return rc;
}

int certify_build(const struct certify_plan *plan, struct faults *faults, struct error *err)
{
	struct folder folder CLEANUP_FOLDER = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	cJSON *envelope CLEANUP_JSON = NULL;
	char *path CLEANUP_FREE = path_join(plan->out, ATTESTATION_FILE_NAME);
	int rc = file_exists(plan->out) ? file_list(plan->out, &names, err) : 0;
	if (rc == 0 && names.count > 0)
		rc = error_set(err, ERROR_EXISTS, "%s: holds something already; name a new folder",
			       plan->out);
	if (rc == 0)
		rc = folder_open(plan->report, &folder, faults, err);
	if (rc == 0)
		rc = take_file(&folder, FOLDER_PRODUCT, plan->product, err);
	if (rc == 0)
		rc = take_file(&folder, FOLDER_CLAIMS, plan->claims, err);
	if (rc < 0)
		return rc;
	folder_check(&folder, faults);
	folder_read_papers(&folder, faults);
	if (folder_is_sound(&folder))
		claims_judge(&folder.claims, folder.report, &folder.log, plan->today, faults);
	if (faults_count(faults) > 0)
		return 0;
	rc = write_files(&folder, plan->out, err);

	/* The attestation comes last: a folder without it is incomplete. */
	if (rc == 0)
		rc = attest_folder(plan->out, NULL, plan->today, plan->key, &envelope, faults, err);
	if (rc == 0 && envelope != NULL)
		rc = json_write_file(path, envelope, err);
	if (rc < 0 || faults_count(faults) > 0)
		(void)file_remove_tree(plan->out, NULL);
	return rc;
}

enum { WALK_FOLDERS_MAX = VIEW_CHECKS_MAX + 16 };

/* A file or folder of the certificate; the second is added to `todo`. */
static int check_entry(const struct folder *folder, const char *path, struct text_list *todo,
		       struct faults *faults, struct error *err)
{
	char *absolute CLEANUP_FREE = path_join(folder->path, path);
	struct file_status status = {0};
	size_t number = 0;
	int rc = file_status(absolute, false, &status, err);
	if (rc < 0)
		return rc;
	/* Without report and journal their evidence is unknown. */
	const bool named = text_equal(path, ATTESTATION_FILE_NAME) ||
			   folder_file_names[text_position(folder_file_names, path)] != NULL ||
			   text_index_get(&folder->evidence, path, &number) ||
			   (folder_checks(folder) == NULL && text_starts_with(path, "evidence/"));
	if (status.kind == FILE_DIRECTORY && todo->count < WALK_FOLDERS_MAX)
		text_list_addf(todo, "%s/", path);
	else if (status.kind == FILE_LINK)
		faults_add(faults, "symbolic-link", "%s is a link", path);
	else if (status.kind != FILE_REGULAR)
		faults_add(faults, "unnamed-file", "%s: not a file, or one folder too many", path);
	else if (!named)
		faults_add(faults, "unnamed-file", "%s: neither the report nor gpucert names it",
			   path);
	return 0;
}

int certify_check(const char *path, const struct key *key, const char *today,
		  struct product *product, struct text_list *subject, cJSON **statement,
		  struct faults *faults, struct error *err)
{
	const struct attest_trust trust = {.key = key, .today = today};
	static const enum folder_file_name needed[] = {FOLDER_JUNIT, FOLDER_PRODUCT, FOLDER_README};
	struct folder folder CLEANUP_FOLDER = {0};
	struct text_list todo CLEANUP_TEXT_LIST = {
		0}; /* folders, with a '/' at the end; the first is "" */
	int rc = folder_open(path, &folder, faults, err);
	if (rc == 0)
		rc = attest_verify(&folder, &trust, statement, faults, err);

	/* Files that only a certificate must have; attest_verify() requires the attested ones. */
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		char attested[DIGEST_SIZE] = "";
		statement_digest(*statement, folder_file_names[needed[i]], attested);
		if (folder.files[needed[i]].data == NULL && attested[0] == '\0')
			faults_add(faults, "missing-file", "%s is missing",
				   folder_file_names[needed[i]]);
	}

	/* The folder must not contain anything else. */
	text_list_add(&todo, "");
	for (size_t i = 0; rc == 0 && i < todo.count; i++) {
		char *absolute CLEANUP_FREE = path_join(path, todo.items[i]);
		struct text_list names CLEANUP_TEXT_LIST = {0};
		rc = file_list(absolute, &names, err);
		text_each (name, &names) {
			char *below CLEANUP_FREE = text_format("%s%s", todo.items[i], name);
			if (rc == 0 && faults_count(faults) < FAULTS_MAX)
				rc = check_entry(&folder, below, &todo, faults, err);
		}
	}
	if (rc < 0)
		return rc;

	if (*statement != NULL && folder_is_sound(&folder))
		claims_judge(&folder.claims, folder.report, &folder.log, today, faults);
	if (folder.report != NULL)
		certify_subject(folder.report, subject);
	*product = folder.product;
	folder.product = (struct product){0};
	return 0;
}
