/* SPDX-License-Identifier: MIT */
#include "reports/ci/ci.h"

#include "base/clock.h"

#include <string.h>

struct escape {
	char character;
	const char *written;
};

static const struct escape github_data[] = {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}, {0}};
static const struct escape github_property[] = {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"},
						{':', "%3A"}, {',', "%2C"},  {0}};
static const struct escape azure[] = {{'%', "%AZP25"}, {'\r', "%0D"}, {'\n', "%0A"},
				      {';', "%3B"},    {']', "%5D"},  {0}};
static const struct escape teamcity[] = {{'|', "||"}, {'\'', "|'"}, {'\r', "|r"}, {'\n', "|n"},
					 {'[', "|["}, {']', "|]"},  {0}};

static void add(struct text *out, const struct escape *escapes, const char *string)
{
	for (; *string != '\0'; string++) {
		const struct escape *escape = escapes;
		while (escape->written != NULL && escape->character != *string)
			escape++;
		if (escape->written != NULL)
			text_add(out, escape->written);
		else
			text_append(out, string, 1);
	}
}

static void github_section(struct text *out, const char *name, bool begins)
{
	if (begins)
		text_addf(out, "::group::%s\n", name);
	else
		text_add(out, "::endgroup::\n");
}

static void github_annotate(struct text *out, bool is_error, const char *title, const char *message)
{
	text_addf(out, "::%s title=", is_error ? "error" : "warning");
	add(out, github_property, title);
	text_add(out, "::");
	add(out, github_data, message);
	text_add(out, "\n");
}

/* Names of sections are letters, digits, "_", "." and "-". */
static void gitlab_section(struct text *out, const char *name, bool begins)
{
	text_addf(out, "\x1b[0Ksection_%s:%lld:gpucert_", begins ? "start" : "end",
		  (long long)(clock_realtime_ns() / 1000000000));
	for (const char *c = name; *c != '\0'; c++)
		text_append(out,
			    strchr("abcdefghijklmnopqrstuvwxyz0123456789.-", *c) != NULL ? c : "_",
			    1);
	if (begins)
		text_addf(out, "[collapsed=true]\r\x1b[0K%s\n", name);
	else
		text_add(out, "\r\x1b[0K\n");
}

static void azure_section(struct text *out, const char *name, bool begins)
{
	if (begins)
		text_addf(out, "##[group]%s\n", name);
	else
		text_add(out, "##[endgroup]\n");
}

static void azure_annotate(struct text *out, bool is_error, const char *title, const char *message)
{
	text_addf(out, "##vso[task.logissue type=%s;]", is_error ? "error" : "warning");
	add(out, azure, title);
	text_add(out, ": ");
	add(out, azure, message);
	text_add(out, "\n");
}

static void azure_hand_over(struct text *out, const char *path)
{
	text_add(out, "##vso[task.uploadsummary]");
	add(out, azure, path);
	text_add(out, "\n");
}

static void teamcity_add(struct text *out, const char *message, const char *property,
			 const char *value)
{
	text_addf(out, "##teamcity[%s %s='", message, property);
	add(out, teamcity, value);
	text_add(out, "']\n");
}

static void teamcity_section(struct text *out, const char *name, bool begins)
{
	teamcity_add(out, begins ? "blockOpened" : "blockClosed", "name", name);
}

static void teamcity_annotate(struct text *out, bool is_error, const char *title,
			      const char *message)
{
	struct text text CLEANUP_TEXT = {0};
	text_addf(&text, "%s: %s", title, message);
	out->failed = out->failed || text.failed;
	teamcity_add(out, is_error ? "message status='ERROR'" : "message status='WARNING'", "text",
		     text_string(&text));
}

static void teamcity_hand_over(struct text *out, const char *path)
{
	teamcity_add(out, "importData type='junit'", "path", path);
}

const struct ci_system ci_systems[] = {
	{"github", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", github_section, github_annotate, NULL,
	 NULL},
	{"gitlab", "GITLAB_CI", NULL, gitlab_section, NULL, NULL, NULL},
	{"azure", "TF_BUILD", NULL, azure_section, azure_annotate, azure_hand_over, "report.md"},
	{"teamcity", "TEAMCITY_VERSION", NULL, teamcity_section, teamcity_annotate,
	 teamcity_hand_over, "junit.xml"},
	{NULL},
};

const char *const ci_names[] = {"none", "auto", "github", "gitlab", "azure", "teamcity", NULL};

static bool is_job_of(const struct ci_system *system)
{
	const char *value = getenv(system->variable);
	return value != NULL && value[0] != '\0' && strcmp(value, "false") != 0;
}

const struct ci_system *ci_find(const char *name)
{
	for (const struct ci_system *system = ci_systems; system->name != NULL; system++) {
		if (strcmp(name, "auto") == 0 ? is_job_of(system) : strcmp(name, system->name) == 0)
			return system;
	}
	return NULL;
}
