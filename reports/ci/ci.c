/* SPDX-License-Identifier: MIT */
#include "reports/ci/ci.h"

#include "base/clock.h"

#include <string.h>

struct ci_escape {
	char character;
	const char *written;
};

static const struct ci_escape github_data[] = {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}, {0}};
static const struct ci_escape github_property[] = {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"},
						   {':', "%3A"}, {',', "%2C"},	{0}};
static const struct ci_escape azure[] = {{'%', "%AZP25"}, {'\r', "%0D"}, {'\n', "%0A"},
					 {';', "%3B"},	  {']', "%5D"},	 {0}};
static const struct ci_escape teamcity[] = {{'|', "||"}, {'\'', "|'"}, {'\r', "|r"}, {'\n', "|n"},
					    {'[', "|["}, {']', "|]"},  {0}};
static const struct ci_escape none[] = {{0}};

const struct ci_system ci_systems[] = {
	{"github", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", NULL, "::group::%n\n", "::endgroup::\n",
	 "::%w title=%t::%m\n", NULL, github_property, github_data},
	{"gitlab", "GITLAB_CI", NULL, NULL,
	 "\x1b[0Ksection_start:%s:gpucert_%f[collapsed=true]\r\x1b[0K%n\n",
	 "\x1b[0Ksection_end:%s:gpucert_%f\r\x1b[0K\n", NULL, NULL, none, none},
	{"azure", "TF_BUILD", NULL, "report.md", "##[group]%n\n", "##[endgroup]\n",
	 "##vso[task.logissue type=%w;]%t: %m\n", "##vso[task.uploadsummary]%m\n", azure, azure},
	{"teamcity", "TEAMCITY_VERSION", NULL, "junit.xml", "##teamcity[blockOpened name='%n']\n",
	 "##teamcity[blockClosed name='%n']\n", "##teamcity[message status='%W' text='%t: %m']\n",
	 "##teamcity[importData type='junit' path='%m']\n", teamcity, teamcity},
	{NULL},
};

const char *const ci_names[] = {"none", "auto", "github", "gitlab", "azure", "teamcity", NULL};

static void add(struct text *out, const struct ci_escape *escapes, const char *string)
{
	for (; *string != '\0'; string++) {
		const struct ci_escape *escape = escapes;
		while (escape->written != NULL && escape->character != *string)
			escape++;
		if (escape->written != NULL)
			text_add(out, escape->written);
		else
			text_append(out, string, 1);
	}
}

/* Writes a command. In its template %n is the name of a section, %f the same of letters, digits, '.', '-' and '_', %s the seconds
 * since 1970, %t a title, %m a message or a path, %w "error" or "warning", %W the same in capitals. */
static void command(const struct ci_system *ci, struct text *out, const char *template,
		    bool is_error, const char *name, const char *message)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
	for (const char *c = template; *c != '\0'; c++) {
		if (*c != '%') {
			text_append(out, c, 1);
			continue;
		}
		switch (*++c) {
		case 'n':
			add(out, ci->of_messages, name);
			break;
		case 'f':
			for (const char *letter = name; *letter != '\0'; letter++)
				text_append(out, strchr(plain, *letter) != NULL ? letter : "_", 1);
			break;
		case 's':
			text_addf(out, "%lld", (long long)(clock_realtime_ns() / 1000000000));
			break;
		case 't':
			add(out, ci->of_titles, name);
			break;
		case 'm':
			add(out, ci->of_messages, message);
			break;
		case 'w':
			text_add(out, is_error ? "error" : "warning");
			break;
		default:
			text_add(out, is_error ? "ERROR" : "WARNING");
			break;
		}
	}
}

void ci_section(const struct ci_system *ci, struct text *out, const char *name, bool begins)
{
	command(ci, out, begins ? ci->begin : ci->end, false, name, "");
}

void ci_annotate(const struct ci_system *ci, struct text *out, bool is_error, const char *title,
		 const char *message)
{
	if (ci->annotation != NULL)
		command(ci, out, ci->annotation, is_error, title, message);
}

void ci_hand_over(const struct ci_system *ci, struct text *out, const char *path)
{
	command(ci, out, ci->hand_over, false, "", path);
}

const struct ci_system *ci_find(const char *name)
{
	for (const struct ci_system *system = ci_systems; system->name != NULL; system++) {
		const char *value = getenv(system->variable);
		const bool is_job =
			value != NULL && value[0] != '\0' && !text_equal(value, "false");
		if (text_equal(name, "auto") ? is_job : text_equal(name, system->name))
			return system;
	}
	return NULL;
}
