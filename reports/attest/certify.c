/* SPDX-License-Identifier: MIT */
#include "reports/attest/certify.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/attest/claims.h"
#include "reports/attest/dsse.h"
#include "reports/attest/statement.h"
#include "reports/render.h"
#include "reports/view.h"
#include "reports/writer.h"

#include <string.h>

/* Is the product one, and do the run and its claims allow the word? */
static int judge(const struct folder *folder, const char *today, struct product *product,
		 struct faults *faults, struct error *err)
{
	const struct folder_file *yaml = &folder->files[FOLDER_PRODUCT];
	const struct folder_file *json = &folder->files[FOLDER_CLAIMS];
	struct claims claims CLEANUP_CLAIMS = {0};
	struct text_list reasons CLEANUP_TEXT_LIST = {0};
	struct error why = {0};
	int rc = 0;
	if (yaml->data != NULL && product_parse(yaml->data, yaml->size, product, NULL, &why) < 0)
		rc = faults_take(faults, &why, FAULT_PRODUCT, "product.yaml", err);
	if (rc == 0 && json->data != NULL &&
	    claims_parse(json->data, json->size, &claims, &why) < 0)
		return faults_take(faults, &why, FAULT_CLAIMS, "claims.json", err);
	if (rc == 0 && folder_is_sound(folder))
		rc = claims_judge(&claims, folder->report, &folder->log, today, &reasons, err);
	text_each (reason, &reasons) {
		if (rc == 0)
			rc = faults_add(faults, err, FAULT_NOT_CERTIFIED, "%s", reason);
	}
	return rc;
}

/* README.md: what was certified, how the run ended, how to check it. What comes from outside stands in an indented block,
 * escaped. */
static int make_readme(const struct folder *folder, const struct product *product, char **out,
		       struct error *err)
{
	const struct writer_options plain = {0};
	const char *const texts[] = {product->name, product->version, product->vendor};
	char *summary CLEANUP_FREE = NULL;
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	struct text text CLEANUP_TEXT = {0};
	text_add(&text, "# Certified with gpucert\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		text_add(&text, "    ");
		text_add_escaped(&text, texts[i], strlen(texts[i]));
		text_add(&text, "\n");
	}
	text_add(
		&text,
		"\nCheck this folder with the vendor's public key: `gpucert certify check . --key "
		"vendor.pub`. What was not tested, and why, is in `claims.json`, if anything.\n\n");
	int rc = writer_print(writer_find("summary"), folder->report, &plain, &summary, err);
	if (rc == 0)
		rc = text_list_split(&lines, summary, '\n', err);
	text_each (line, &lines)
		text_addf(&text, "    %s\n", line);
	*out = rc == 0 ? text_take(&text) : NULL;
	return rc == 0 && *out == NULL ? error_memory(err) : rc;
}

/* What the folder has beside the run's own files: README.md, and each format of the report anew. */
static int add_files(struct folder *folder, const struct product *product, struct error *err)
{
	const struct writer_options plain = {0};
	char *readme = NULL;
	int rc = make_readme(folder, product, &readme, err);
	folder_put(folder, FOLDER_README, readme, readme != NULL ? strlen(readme) : 0);
	for (const struct writer *writer = writers; rc == 0 && writer->name != NULL; writer++) {
		const enum folder_file_name name =
			writer->file_name != NULL ? (enum folder_file_name)text_position(
							    folder_file_names, writer->file_name)
						  : FOLDER_FILE_COUNT;
		char *text = NULL;
		if (name == FOLDER_REPORT || name == FOLDER_FILE_COUNT)
			continue;
		rc = writer_print(writer, folder->report, &plain, &text, err);
		folder_put(folder, name, text, text != NULL ? strlen(text) : 0);
	}
	return rc;
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
	json_each (check, json_pointer(folder->report, "/checks")) {
		json_each (item, json_pointer(check, "/evidence")) {
			char *data CLEANUP_FREE = NULL;
			size_t size = 0;
			if (rc == 0)
				rc = report_read_evidence(folder->path, item, &data, &size, err);
			if (rc == 0)
				rc = write_below(out, folder_evidence_path(item), data, size, err);
		}
	}
	return rc;
}

/* The attestation comes last: a folder without it was not finished. */
static int write_folder(const struct folder *folder, const struct certify_plan *plan,
			struct error *err)
{
	cJSON *statement CLEANUP_JSON = NULL;
	cJSON *envelope CLEANUP_JSON = NULL;
	int rc = statement_make(folder, NULL, &statement, err);
	if (rc == 0)
		rc = statement_sign(statement, plan->key, &envelope, err);
	for (size_t i = 0; rc == 0 && i < FOLDER_FILE_COUNT; i++) {
		if (folder->files[i].data != NULL)
			rc = write_below(plan->out, folder_file_names[i], folder->files[i].data,
					 folder->files[i].size, err);
	}
	if (rc == 0)
		rc = write_evidence(folder, plan->out, err);
	char *json CLEANUP_FREE = rc == 0 ? json_print(envelope) : NULL;
	if (rc == 0)
		rc = json != NULL ? write_below(plan->out, ATTESTATION_FILE_NAME, json,
						strlen(json), err)
				  : error_memory(err);
	return rc;
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
	if (!file_exists(out))
		return 0;
	int rc = file_list(out, &names, err);
	if (rc == 0 && names.count > 0)
		rc = error_set(err, ERROR_EXISTS, "%s: holds something already; name a new folder",
			       out);
	return rc;
}

int certify_build(const struct certify_plan *plan, struct faults *faults, struct error *err)
{
	struct folder folder CLEANUP_FOLDER = {0};
	struct product product CLEANUP_PRODUCT = {0};
	int rc = refuse_full(plan->out, err);
	if (rc == 0)
		rc = folder_open(plan->report, &folder, faults, err);
	if (rc == 0)
		rc = take_file(&folder, FOLDER_PRODUCT, plan->product, err);
	if (rc == 0)
		rc = take_file(&folder, FOLDER_CLAIMS, plan->claims, err);
	if (rc == 0)
		rc = folder_check(&folder, faults, err);
	if (rc == 0)
		rc = judge(&folder, plan->today, &product, faults, err);
	if (rc < 0 || faults_count(faults) > 0)
		return rc;
	rc = add_files(&folder, &product, err);
	if (rc == 0)
		rc = write_folder(&folder, plan, err);
	if (rc < 0)
		(void)file_remove_tree(plan->out, NULL);
	return rc;
}

/* Everything that lies in the folder. */
struct walk {
	const struct folder *folder;
	struct text_list named; /* evidence */
	struct faults *faults;
};

enum { WALK_DEPTH_MAX = 16 };

static bool is_named(const struct walk *walk, const char *path)
{
	if (walk->folder->report == NULL && text_starts_with(path, "evidence/"))
		return true; /* it cannot be told */
	return strcmp(path, ATTESTATION_FILE_NAME) == 0 ||
	       folder_file_names[text_position(folder_file_names, path)] != NULL ||
	       text_list_has(&walk->named, path);
}

static int walk_folder(const struct walk *walk, const char *relative, int depth, struct error *err);

static int walk_entry(const struct walk *walk, const char *path, int depth, struct error *err)
{
	char *absolute CLEANUP_FREE = path_join(walk->folder->path, path);
	struct file_status status = {0};
	int rc = absolute != NULL ? file_status(absolute, false, &status, err) : error_memory(err);
	if (rc < 0)
		return rc;
	if (status.kind == FILE_LINK)
		return faults_add(walk->faults, err, FAULT_SYMBOLIC_LINK, "%s is a link", path);
	if (status.kind == FILE_DIRECTORY && depth < WALK_DEPTH_MAX)
		return walk_folder(walk, path, depth + 1, err);
	if (status.kind == FILE_REGULAR && is_named(walk, path))
		return 0;
	return faults_add(walk->faults, err, FAULT_UNNAMED_FILE,
			  status.kind == FILE_REGULAR
				  ? "%s: neither the report nor gpucert names it"
				  : "%s: not a file, or too deep",
			  path);
}

static int walk_folder(const struct walk *walk, const char *relative, int depth, struct error *err)
{
	char *absolute CLEANUP_FREE = path_join(walk->folder->path, relative);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = absolute != NULL ? file_list(absolute, &names, err) : error_memory(err);
	text_each (name, &names) {
		char *path CLEANUP_FREE =
			relative[0] != '\0' ? text_format("%s/%s", relative, name) : strdup(name);
		if (rc == 0 && faults_count(walk->faults) < FAULTS_MAX)
			rc = path != NULL ? walk_entry(walk, path, depth, err) : error_memory(err);
	}
	return rc;
}

static int check_names(const struct folder *folder, struct faults *faults, struct error *err)
{
	struct walk walk = {.folder = folder, .faults = faults};
	int rc = 0;
	json_each (check, json_pointer(folder->report, "/checks")) {
		json_each (item, json_pointer(check, "/evidence")) {
			if (rc == 0)
				rc = text_list_add(&walk.named, view_string(item, "/path"), err);
		}
	}
	if (rc == 0)
		rc = walk_folder(&walk, "", 0, err);
	text_list_free(&walk.named);
	return rc;
}

/* Files that a certificate has and a report's folder need not have; those that were attested are asked for by
 * attest_verify(). */
static int check_needed(const struct folder *folder, const cJSON *statement, struct faults *faults,
			struct error *err)
{
	static const enum folder_file_name needed[] = {FOLDER_JUNIT, FOLDER_PRODUCT, FOLDER_README};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(needed); i++) {
		char attested[DIGEST_SIZE] = "";
		statement_digest(statement, folder_file_names[needed[i]], attested);
		if (folder->files[needed[i]].data == NULL && attested[0] == '\0')
			rc = faults_add(faults, err, FAULT_MISSING_FILE, "%s is missing",
					folder_file_names[needed[i]]);
	}
	return rc;
}

int certify_check(const char *path, const struct public_key *key, const char *today,
		  struct product *product, cJSON **statement, struct faults *faults,
		  struct error *err)
{
	const struct attest_trust trust = {.key = key, .today = today};
	struct folder folder CLEANUP_FOLDER = {0};
	int rc = folder_open(path, &folder, faults, err);
	if (rc == 0)
		rc = attest_verify(&folder, &trust, statement, faults, err);
	if (rc == 0)
		rc = check_needed(&folder, *statement, faults, err);
	if (rc == 0)
		rc = check_names(&folder, faults, err);
	/* What nobody signed is not asked what it claims. */
	return rc == 0 && *statement != NULL ? judge(&folder, today, product, faults, err) : rc;
}
