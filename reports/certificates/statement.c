/* SPDX-License-Identifier: MIT */
#include "reports/certificates/statement.h"

#include "base/cleanup.h"
#include "reports/environment.h"
#include "reports/view.h"

#include <string.h>

/* "sha256:HEX" as a DigestSet of in-toto. */
static void add_digest(struct members *to, const char *digest)
{
	struct members set = member_object(to, "digest");
	member_string(&set, "sha256", digest + strlen("sha256:"));
}

static bool has_subject(const cJSON *subjects, const char *digest, const char *name)
{
	json_each (subject, subjects) {
		if (view_is(subject, "/digest/sha256", digest + strlen("sha256:")) &&
		    (name == NULL || view_is(subject, "/name", name)))
			return true;
	}
	return false;
}

/* Adds nothing if the digest is unknown; each subject once. */
static void add_subject(struct members *subjects, const char *kind, const char *name,
			const cJSON *digest)
{
	char *full CLEANUP_FREE = text_format("%s/%s", kind, name);
	const char *string = cJSON_GetStringValue(digest);
	if (string == NULL || strlen(string) != DIGEST_SIZE - 1 ||
	    !text_starts_with(string, "sha256:") || has_subject(subjects->object, string, full))
		return;
	struct members subject = member_object(subjects, NULL);
	member_string(&subject, "name", full);
	add_digest(&subject, string);
}

static cJSON *subjects_of(const cJSON *report)
{
	struct members subjects CLEANUP_MEMBERS = members_new_array();
	const cJSON *plugin = json_pointer(report, "/environment/plugin");
	add_subject(&subjects, "plugin", view_string(plugin, "/name"),
		    json_pointer(plugin, "/binaryDigest"));
	json_each (file, json_pointer(plugin, "/files"))
		add_subject(&subjects, "plugin-file", view_string(file, "/name"),
			    json_pointer(file, "/digest"));
	json_each (driver, json_pointer(report, "/environment/drivers"))
		add_subject(&subjects, "driver", view_string(driver, "/key"),
			    json_pointer(driver, "/storeDigest"));
	json_each (device, json_pointer(report, "/environment/devices")) {
		/* The files that discovery found, unless containers had others. */
		if (json_pointer(device, "/otherFiles") == NULL)
			add_subject(&subjects, "runtime-files", view_string(device, "/driver"),
				    json_pointer(device, "/runtimeFiles/digest"));
		/* The driver files that containers really had. */
		json_each (work, json_pointer(device, "/ran")) {
			json_each (file, json_pointer(work, "/files")) {
				const char *path = view_string(file, "/path");
				add_subject(&subjects, "driver-file",
					    path[0] != '\0' ? path + 1 : path,
					    json_pointer(file, "/digest"));
			}
		}
	}
	json_each (image, json_pointer(report, "/environment/images"))
		add_subject(&subjects, "image", view_string(image, "/ref"),
			    json_pointer(image, "/digest"));
	return members_take(&subjects);
}

static struct members add_descriptor(struct members *configuration, const char *name,
				     const char *digest)
{
	struct members descriptor = member_object(configuration, NULL);
	member_string(&descriptor, "name", name);
	add_digest(&descriptor, digest);
	return descriptor;
}

static void add_configuration(const struct folder *folder, struct members *predicate)
{
	struct members configuration = member_array(predicate, "configuration");
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char digest[DIGEST_SIZE] = "";
	for (size_t i = 0; i < FOLDER_FILE_COUNT; i++) {
		if (folder->files[i].data == NULL)
			continue;
		struct members descriptor = add_descriptor(&configuration, folder_file_names[i],
							   folder->files[i].digest);
		if (i != FOLDER_REPORT)
			continue;
		struct members annotations = member_object(&descriptor, "annotations");
		/* For readers of the attestation without the report. */
		member_string(&annotations, "conformance",
			      view_string(folder->report, "/verdict/conformance/result"));
		member_string(&annotations, "environment",
			      view_string(folder->report, "/environment/digest"));
		member_string(&annotations, "gpucert",
			      view_string(folder->report, "/run/harness/version"));
	}

	/* The digest over one line "HEX  PATH\n" for each piece of evidence, as sha256sum prints them, sorted. */
	json_each (check, folder_checks(folder)) {
		json_each (item, json_pointer(check, "/evidence")) {
			const char *hex = view_string(item, "/digest");
			hex += text_starts_with(hex, "sha256:") ? strlen("sha256:") : 0;
			text_list_addf(&lines, "%s  %s\n", hex, view_string(item, "/path"));
		}
	}
	environment_digest_lines(&lines, "", digest);
	struct members evidence = add_descriptor(&configuration, "evidence", digest);
	struct members annotations = member_object(&evidence, "annotations");
	member_int(&annotations, "files", (int64_t)lines.count);
}

enum result { PASSED, WARNED, FAILED };
static const char *const results[] = {"PASSED", "WARNED", "FAILED"};
static const char *const lists[] = {"passedTests", "warnedTests", "failedTests"};

/* The list that a check belongs to; -1: none. */
static int list_of(const struct view_check *check)
{
	const char *level = view_string(check->json, "/level");
	if (check->outcome == REPORT_PASS)
		return check->unproven ? WARNED : PASSED;
	if (!report_outcome_is_bad(check->outcome))
		return -1;
	return text_equal(level, "should") || text_equal(level, "may") ? WARNED : FAILED;
}

int statement_make(const struct folder *folder, const char *url, cJSON **statement,
		   struct error *err)
{
	struct members json CLEANUP_MEMBERS = members_new();
	cJSON *subjects CLEANUP_JSON = subjects_of(folder->report);
	const char *conformance = view_string(folder->report, "/verdict/conformance/result");
	const bool conformant = text_equal(conformance, "conformant");
	struct faults faults CLEANUP_FAULTS = {0};
	struct view view CLEANUP_VIEW = {0};
	bool failed = false;
	int rc = view_open(folder->report, &view, err);
	if (rc < 0)
		return rc;
	if (json_first(subjects) == NULL)
		return error_set(
			err, ERROR_NOT_FOUND,
			"the report has no digest of plugin, driver or image: there is nothing that it "
			"could attest");

	/* Did the folder's claims, when the run ended, justify everything that was not tested? */
	claims_judge(&folder->claims, folder->report, &folder->log,
		     view_string(folder->report, "/run/ended"), &faults);
	const bool claimed =
		folder->files[FOLDER_CLAIMS].data != NULL && faults_count(&faults) == 0;

	member_string(&json, "_type", STATEMENT_TYPE);
	member_item(&json, "subject", STEAL(subjects));
	member_string(&json, "predicateType", STATEMENT_PREDICATE_TYPE);
	struct members predicate = member_object(&json, "predicate");
	add_configuration(folder, &predicate);
	for (int list = PASSED; list <= FAILED; list++) {
		struct members tests = member_array(&predicate, lists[list]);
		for (size_t i = 0; i < view.count; i++) {
			failed = failed || report_outcome_is_bad(view.checks[i].outcome);
			if (list_of(&view.checks[i]) == list)
				member_string(&tests, NULL, view.checks[i].id);
		}
	}
	if (url != NULL)
		member_string(&predicate, "url", url);
	member_string(&predicate, "result",
		      results[conformant && !failed   ? PASSED
			      : conformant || claimed ? WARNED
						      : FAILED]);
	*statement = members_take(&json);
	return 0;
}

int statement_check(const cJSON *statement, struct error *err)
{
	static const char *const constants[][2] = {{"/_type", STATEMENT_TYPE},
						   {"/predicateType", STATEMENT_PREDICATE_TYPE}};
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++) {
		const char *found = view_string(statement, constants[i][0]);
		if (!text_equal(found, constants[i][1]))
			return error_set(err, ERROR_FORMAT, "%s: '%.64s' is not %s",
					 constants[i][0], found, constants[i][1]);
	}
	return 0;
}

void statement_digest(const cJSON *statement, const char *name, char out[DIGEST_SIZE])
{
	out[0] = '\0';
	json_each (item, json_pointer(statement, "/predicate/configuration")) {
		if (view_is(item, "/name", name))
			(void)snprintf(out, DIGEST_SIZE, "sha256:%s",
				       view_string(item, "/digest/sha256"));
	}
}

bool statement_has_subject(const cJSON *statement, const char *digest)
{
	return has_subject(json_pointer(statement, "/subject"), digest, NULL);
}
