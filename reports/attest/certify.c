/* SPDX-License-Identifier: MIT */
#include "reports/attest/certify.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/attest/statement.h"
#include "reports/render.h"
#include "reports/view.h"

#include <string.h>

/* README.md: what was certified, in an indented block, escaped, and how to check it. NULL: out of memory. */
static char *make_readme(const struct product *product)
{
	const char *const texts[] = {product->name, product->version, product->vendor};
	struct text text CLEANUP_TEXT = {0};
	text_add(&text, "# Certified with gpucert\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		text_add(&text, "    ");
		text_add_escaped(&text, texts[i], strlen(texts[i]));
		text_add(&text, "\n");
	}
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
	char *parent CLEANUP_FREE = path != NULL ? path_directory(path) : NULL;
	int rc = parent != NULL ? file_make_directories(parent, 0755, err) : error_memory(err);
	return rc == 0 ? file_write_atomic(path, data, size, 0644, err) : rc;
}

static int write_evidence(const struct folder *folder, const char *out, struct error *err)
{
	int rc = 0;
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

/* The report's formats are made anew; report and journal are the run's own bytes. */
static int write_files(const struct folder *folder, const char *out, struct error *err)
{
	static const enum folder_file_name taken[] = {FOLDER_REPORT, FOLDER_JOURNAL, FOLDER_CLAIMS,
						      FOLDER_PRODUCT};
	char *readme CLEANUP_FREE = make_readme(&folder->product);
	int rc = readme != NULL ? write_below(out, folder_file_names[FOLDER_README], readme,
					      strlen(readme), err)
				: error_memory(err);
	if (rc == 0)
		rc = report_write_directory(out, folder->report, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(taken); i++) {
		const struct folder_file *file = &folder->files[taken[i]];
		if (file->data != NULL)
			rc = write_below(out, folder_file_names[taken[i]], file->data, file->size,
					 err);
	}
	return rc == 0 ? write_evidence(folder, out, err) : rc;
}

/* It comes last: a folder without it was not finished. */
static int write_attestation(const struct certify_plan *plan, struct faults *faults,
			     struct error *err)
{
	cJSON *envelope CLEANUP_JSON = NULL;
	char *path CLEANUP_FREE = path_join(plan->out, ATTESTATION_FILE_NAME);
	int rc = path != NULL ? attest_folder(plan->out, NULL, plan->today, plan->key, &envelope,
					      faults, err)
			      : error_memory(err);
	return rc == 0 && envelope != NULL ? json_write_file(path, envelope, err) : rc;
}

/* A given file in the place that it has in the folder. */
static int take_file(struct folder *folder, enum folder_file_name name, const char *path,
		     struct error *err)
{
	char *data = NULL;
	size_t size = 0;
	int rc = path != NULL ? file_read(path, PRODUCT_FILE_MAX, &data, &size, err) : 0;
	if (rc == 0 && path != NULL)
		folder_put(folder, name, data, size);
	return rc;
}

static int refuse_full(const char *out, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = file_exists(out) ? file_list(out, &names, err) : 0;
	return names.count > 0 ? error_set(err, ERROR_EXISTS,
					   "%s: holds something already; name a new folder", out)
			       : rc;
}

int certify_build(const struct certify_plan *plan, struct faults *faults, struct error *err)
{
	struct folder folder CLEANUP_FOLDER = {0};
	int rc = refuse_full(plan->out, err);
	if (rc == 0)
		rc = folder_open(plan->report, &folder, faults, err);
	if (rc == 0)
		rc = take_file(&folder, FOLDER_PRODUCT, plan->product, err);
	if (rc == 0)
		rc = take_file(&folder, FOLDER_CLAIMS, plan->claims, err);
	if (rc == 0)
		rc = folder_check(&folder, faults, err);
	if (rc < 0)
		return rc;
	folder_read_papers(&folder, faults);
	if (folder_is_sound(&folder))
		claims_judge(&folder.claims, folder.report, &folder.log, plan->today, faults);
	rc = faults_end(faults, err);
	if (rc < 0 || faults_count(faults) > 0)
		return rc;
	rc = write_files(&folder, plan->out, err);
	if (rc == 0)
		rc = write_attestation(plan, faults, err);
	if (rc < 0 || faults_count(faults) > 0)
		(void)file_remove_tree(plan->out, NULL);
	return rc;
}

/* Everything that lies in the folder. */
struct walk {
	const struct folder *folder;
	struct text_list todo; /* folders, with a '/' behind them; the first one is "" */
	struct faults *faults;
};

enum { WALK_FOLDERS_MAX = VIEW_CHECKS_MAX + 16 };

/* Without report and journal it cannot be told which evidence is theirs. */
static bool is_named(const struct folder *folder, const char *path)
{
	size_t number = 0;
	return strcmp(path, ATTESTATION_FILE_NAME) == 0 ||
	       folder_file_names[text_position(folder_file_names, path)] != NULL ||
	       text_index_get(&folder->evidence, path, &number) ||
	       (folder_checks(folder) == NULL && text_starts_with(path, "evidence/"));
}

static int look_at(struct walk *walk, const char *path, struct error *err)
{
	char *absolute CLEANUP_FREE = path_join(walk->folder->path, path);
	struct file_status status = {0};
	int rc = absolute != NULL ? file_status(absolute, false, &status, err) : error_memory(err);
	if (rc < 0)
		return rc;
	if (status.kind == FILE_DIRECTORY && walk->todo.count < WALK_FOLDERS_MAX)
		return text_list_addf(&walk->todo, err, "%s/", path);
	if (status.kind == FILE_LINK)
		faults_add(walk->faults, "symbolic-link", "%s is a link", path);
	else if (status.kind != FILE_REGULAR)
		faults_add(walk->faults, "unnamed-file", "%s: not a file, or one folder too many",
			   path);
	else if (!is_named(walk->folder, path))
		faults_add(walk->faults, "unnamed-file",
			   "%s: neither the report nor gpucert names it", path);
	return 0;
}

static int look_around(struct walk *walk, struct error *err)
{
	int rc = text_list_add(&walk->todo, "", err);
	for (size_t i = 0; rc == 0 && i < walk->todo.count; i++) {
		char *absolute CLEANUP_FREE = path_join(walk->folder->path, walk->todo.items[i]);
		struct text_list names CLEANUP_TEXT_LIST = {0};
		rc = absolute != NULL ? file_list(absolute, &names, err) : error_memory(err);
		text_each (name, &names) {
			char *path CLEANUP_FREE = text_format("%s%s", walk->todo.items[i], name);
			if (rc == 0 && faults_count(walk->faults) < FAULTS_MAX)
				rc = path != NULL ? look_at(walk, path, err) : error_memory(err);
		}
	}
	return rc;
}

/* Nothing else may lie in the folder. */
static int check_names(const struct folder *folder, struct faults *faults, struct error *err)
{
	struct walk walk = {.folder = folder, .faults = faults};
	int rc = look_around(&walk, err);
	text_list_free(&walk.todo);
	return rc;
}

/* Files that a certificate has and a report's folder need not have; those that were attested are asked for by
 * attest_verify(). */
static void check_needed(const struct folder *folder, const cJSON *statement, struct faults *faults)
{
	static const enum folder_file_name needed[] = {FOLDER_JUNIT, FOLDER_PRODUCT, FOLDER_README};
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		char attested[DIGEST_SIZE] = "";
		statement_digest(statement, folder_file_names[needed[i]], attested);
		if (folder->files[needed[i]].data == NULL && attested[0] == '\0')
			faults_add(faults, "missing-file", "%s is missing",
				   folder_file_names[needed[i]]);
	}
}

int certify_check(const char *path, const struct key *key, const char *today,
		  struct product *product, cJSON **statement, struct faults *faults,
		  struct error *err)
{
	const struct attest_trust trust = {.key = key, .today = today};
	struct folder folder CLEANUP_FOLDER = {0};
	int rc = folder_open(path, &folder, faults, err);
	if (rc == 0)
		rc = attest_verify(&folder, &trust, statement, faults, err);
	check_needed(&folder, *statement, faults);
	if (rc == 0)
		rc = check_names(&folder, faults, err);
	if (rc < 0)
		return rc;
	if (*statement != NULL && folder_is_sound(&folder))
		claims_judge(&folder.claims, folder.report, &folder.log, today, faults);
	*product = folder.product;
	folder.product = (struct product){0};
	return faults_end(faults, err);
}
