/* SPDX-License-Identifier: MIT */
#include "conformance/cli/attest_output.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/cli/commands.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

int attest_key(const char *path, enum key_kind kind, struct key *out, struct error *err)
{
	if (path != NULL)
		return key_read(path, kind, out, err);
	if (kind == KEY_PUBLIC)
		return error_set(err, ERROR_ARGUMENT,
				 "--key: name the public key of whoever attested the report");
	return error_set(err, ERROR_ARGUMENT,
			 "--key: name the private key to sign with ('gpucert key generate' makes "
			 "one)");
}

int attest_print_faults(const char *command, const struct faults *faults)
{
	json_each (fault, faults->items) {
		char *line CLEANUP_FREE = text_format("%s: %s", view_string(fault, "/kind"),
						      view_string(fault, "/what"));
		command_print(command, line);
	}
	return faults_count(faults) > 0 ? EXIT_FAULTS : EXIT_SUCCESS;
}

int attest_print(const char *command, bool json, const char *text, const char *keyid,
		 const struct text_list *subject, const cJSON *statement,
		 const struct faults *faults, struct error *err)
{
	const bool good = faults_count(faults) == 0;
	int rc = 0;
	if (!json) {
		if (good)
			rc = options_print(memory_copy(text), err);
		return rc < 0 ? command_failed(command, rc, err)
			      : attest_print_faults(command, faults);
	}

	struct members members CLEANUP_MEMBERS = members_new();
	member_string(&members, "schema", "gpucert-verification/1");
	member_bool(&members, "verified", good);
	member_string(&members, "keyid", keyid);
	member_string(&members, "result", json_pointer_string(statement, "/predicate/result"));
	if (subject != NULL)
		member_item(&members, "certified", json_new_strings(subject));
	member_copy(&members, "subjects", json_pointer(statement, "/subject"));
	member_copy(&members, "faults", faults->items);
	rc = options_print(json_print(members.object), err);
	if (rc < 0)
		return command_failed(command, rc, err);
	return good ? EXIT_SUCCESS : EXIT_FAULTS;
}
