/* SPDX-License-Identifier: MIT */
/* `publish` and `pull`: reports to registries and web servers, and back. */
#include "base/file.h"
#include "base/members.h"
#include "base/memory.h"
#include "base/program.h"
#include "base/style.h"
#include "conformance/cli/commands.h"
#include "containers/registry/challenge.h"
#include "reports/certificates/publish/publish.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	struct publish_options options;
	const char *token_file, *folder, *receipt;
	int64_t within_s;
	bool json;
} given;

typedef int move_fn(const char *from, const char *to, const struct publish_options *options,
		    struct publish_result *out, struct error *err);

static void show_progress(size_t number, size_t count, const struct image_descriptor *file)
{
	(void)fprintf(stderr, "\r\033[K%zu of %zu: %s (%.1f MiB)", number, count, file->title,
		      (double)file->size / (1 << 20));
	(void)fflush(stderr);
}

/* *token: caller frees. It is never on the command line, which others on the machine can read. */
static int find_token(const char *place, char **token, struct error *err)
{
	const char *variable = program_variable("GPUCERT_TOKEN");
	if (given.token_file == NULL) {
		if (variable != NULL && variable[0] != '\0' && !text_starts_with(place, "oci://"))
			*token = memory_copy(variable);
		return 0;
	}
	int rc = file_read(given.token_file, CHALLENGE_TOKEN_MAX, token, NULL, err);
	if (rc == 0)
		(*token)[strcspn(*token, "\r\n")] = '\0';
	return rc < 0 ? error_wrap(err, rc, "--token-file") : 0;
}

static int show_result(const char *place, const struct publish_result *result, const char *moved,
		       struct error *err)
{
	const bool exact = strstr(place, "@sha256:") != NULL;
	char *reference CLEANUP_FREE =
		text_format("%s%s%s", place, exact ? "" : "@", exact ? "" : result->digest);
	struct members members CLEANUP_MEMBERS = members_new();
	member_string(&members, "schema", "gpucert-publication/1");
	member_string(&members, "reference", reference);
	member_string(&members, "digest", result->digest);
	member_int(&members, "files", (int64_t)result->files);
	member_int(&members, "bytes", (int64_t)result->bytes);
	member_int(&members, "movedFiles", (int64_t)result->moved_files);
	member_int(&members, "movedBytes", (int64_t)result->moved_bytes);
	char *printed CLEANUP_FREE = json_print(members.object);
	int rc = 0;
	if (given.receipt != NULL)
		rc = file_write_atomic(given.receipt, printed, strlen(printed), 0644, err);
	if (rc < 0)
		return error_wrap(err, rc, "--receipt");
	if (given.json)
		return options_print(STEAL(printed), err);
	return options_print(text_format("%s: %zu files, %.1f MiB; %zu %s\n", reference,
					 result->files, (double)result->bytes / (1 << 20),
					 result->moved_files, moved),
			     err);
}

static int move_report(const char *command, move_fn *move, const char *from, const char *to)
{
	const char *place = move == report_pull ? from : to;
	struct publish_result result = {0};
	struct error err = {0};
	char *token CLEANUP_FREE = NULL;
	const bool shown = style_enabled(STDERR_FILENO);
	int rc = find_token(place, &token, &err);
	given.options.token = token;
	given.options.registry.within_ms = (uint64_t)given.within_s * 1000;
	given.options.progress = shown ? show_progress : NULL;
	if (rc == 0)
		rc = move(from, to, &given.options, &result, &err);
	if (shown)
		(void)fprintf(stderr, "\r\033[K");
	if (rc == 0)
		rc = show_result(place, &result, move == report_pull ? "fetched" : "sent", &err);
	return command_end(command, rc, &err);
}

static int publish_run(const struct text_list *arguments)
{
	if (arguments->count != 2) {
		command_print("publish", "name the folder of a report and the place for it");
		return OPTIONS_EXIT_USAGE;
	}
	return move_report("publish", report_publish, arguments->items[0], arguments->items[1]);
}

static int pull_run(const struct text_list *arguments)
{
	if (arguments->count != 1 || given.folder == NULL) {
		command_print("pull",
			      "name the place of a report, and with --out the folder for it");
		return OPTIONS_EXIT_USAGE;
	}
	return move_report("pull", report_pull, arguments->items[0], given.folder);
}

#define PLACE_OPTIONS                                                                                        \
	{OPTION_ROW("token-file", OPTION_STRING, given.token_file), .value = "FILE",                         \
	 .help = "The bearer token for https://; without it $GPUCERT_TOKEN. Only that host gets "            \
		 "it."},                                                                                     \
		{OPTION_ROW("ca-certificate", OPTION_STRING,                                                 \
			    given.options.registry.ca_certificate),                                          \
		 .value = "FILE",                                                                            \
		 .help = "Certificates (PEM) of authorities that are trusted as well as the system's. "      \
			 "Without it $SSL_CERT_FILE."},                                                      \
		{OPTION_ROW("plain-http", OPTION_FLAG, given.options.registry.plain_http),                   \
		 .help = "Allow plain HTTP to other machines, too. For this machine it is always allowed."}, \
	{                                                                                                    \
		OPTION_ROW("json", OPTION_FLAG, given.json),                                                 \
			.help = "Print the result with its digest as JSON"                                   \
	}

static const struct option_spec publish_options[] = {
	{OPTION_ROW("within", OPTION_INT, given.within_s), .value = "SECONDS",
	 .help = "Try again for so long while the place cannot be reached, and give up then. Default: a "
		 "few times.",
	 .min = 1, .max = 86400},
	{OPTION_ROW("receipt", OPTION_STRING, given.receipt), .value = "FILE",
	 .help = "Write the result as JSON to this file, only once the place has acknowledged the whole "
		 "report."},
	{OPTION_ROW("subject", OPTION_STRING, given.options.subject), .value = "IMAGE",
	 .help = "Attach the report to this image of the same repository, where clients find it as one of "
		 "its referrers. No tag is needed then."},
	PLACE_OPTIONS,
	{0},
};

static const struct option_spec pull_options[] = {
	{OPTION_ROW("out", OPTION_STRING, given.folder), .letter = 'o', .value = "DIR",
	 .help = "The folder for the report. Nothing in it is replaced."},
	PLACE_OPTIONS,
	{0},
};

const struct command_spec command_publish = {
	.name = "publish",
	.summary = "Push the folder of a report to a registry, or to a web server",
	.arguments = "DIR PLACE",
	.description =
		"PLACE is oci://HOST/REPOSITORY:TAG or https://HOST/PATH. The journal, its reports, "
		"its attestation and claims, and the evidence that it names are sent; other files of "
		"the folder are not. Files that exist at the place are not sent again, so that an "
		"interrupted upload can be resumed, and the same folder gets the same digest.\n\nA "
		"folder that was changed after the run is not published.",
	.options = publish_options,
	.examples = TEXTS(
		"gpucert publish gpucert-report oci://registry.example.com/reports:driver-552.12",
		"Push the report to a registry, with the credentials of `docker login`.",
		"gpucert publish gpucert-report oci://registry.example.com/plugin --subject "
		"registry.example.com/plugin:1.4",
		"Attach it to the image of the plugin that was tested.",
		"gpucert publish --token-file token gpucert-report https://reports.example.com/2026/552.12",
		"Put its files below a URL."),
	.exit_codes = EXIT_CODES(
		"the report is published",
		"the folder cannot be read or was changed after the run, or the place refuses it"),
	.run = publish_run,
};

const struct command_spec command_pull = {
	.name = "pull",
	.summary = "Fetch a report that was published, and verify it",
	.arguments = "PLACE",
	.description =
		"PLACE is the one given to 'gpucert publish', or printed by it: with \"@sha256:...\" "
		"exactly that report is fetched. Each file is compared with its digest, and finally "
		"the journal is verified and the evidence compared with the journal. Files that "
		"exist in the folder are not fetched again: an interrupted download can be resumed.",
	.options = pull_options,
	.examples = TEXTS(
		"gpucert pull oci://registry.example.com/reports:driver-552.12 -o driver-552.12",
		"Fetch the report and verify it.",
		"gpucert pull https://reports.example.com/2026/552.12 -o driver-552.12",
		"The same from a web server."),
	.exit_codes = EXIT_CODES("the report is in the folder",
				 "it cannot be fetched, or was changed after the run"),
	.run = pull_run,
};
