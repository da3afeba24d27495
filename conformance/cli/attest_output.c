/* SPDX-License-Identifier: MIT */
#include "conformance/cli/attest_output.h"

#include "base/cleanup.h"
#include "conformance/cli/commands.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

int attest_key(const char *path, enum key_kind kind, struct key *out, struct error *err)
{
	static const char *const missing[] = {
		[KEY_PUBLIC] = "--key: name the public key of whoever attested the report",
		[KEY_PRIVATE] =
			"--key: name the private key to sign with ('gpucert key generate' makes "
			"one)",
	};
	return path != NULL ? key_read(path, kind, out, err)
			    : error_set(err, ERROR_ARGUMENT, "%s", missing[kind]);
}

int attest_tell(const char *command, const struct faults *faults)
{
	json_each (fault, faults->items) {
		char *line CLEANUP_FREE = text_format("%s: %s", view_string(fault, "/kind"),
						      view_string(fault, "/what"));
		command_tell(command, line != NULL ? line : "out of memory");
	}
	return faults_count(faults) > 0 ? EXIT_FAULTS : EXIT_SUCCESS;
}

static cJSON *to_json(const char *keyid, const struct text_list *subject, const cJSON *statement,
		      const struct faults *faults)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "schema", "gpucert-verification/1");
	member_bool(&json, "verified", faults_count(faults) == 0);
	member_string(&json, "keyid", keyid);
	member_string(&json, "result", json_pointer_string(statement, "/predicate/result"));
	if (subject != NULL)
		member_item(&json, "certified", json_new_strings(subject));
	member_copy(&json, "subjects", json_pointer(statement, "/subject"));
	member_copy(&json, "faults", faults->items);
	return members_take(&json);
}

int attest_print(const char *command, bool json, const char *text, const char *keyid,
		 const struct text_list *subject, const cJSON *statement,
		 const struct faults *faults, struct error *err)
{
	cJSON *document CLEANUP_JSON = json ? to_json(keyid, subject, statement, faults) : NULL;
	const bool good = faults_count(faults) == 0;
	int rc = 0;
	if (json)
		rc = options_print(json_print(document), err);
	else if (good)
		rc = options_print(text != NULL ? strdup(text) : NULL, err);
	if (rc < 0)
		return command_failed(command, rc, err);
	return json ? (good ? EXIT_SUCCESS : EXIT_FAULTS) : attest_tell(command, faults);
}
