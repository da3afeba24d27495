/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/tests/unit.h"
#include "conformance/runner/plugin_profile.h"

#include <string.h>

static int parse(const char *text, struct plugin_profile *profile, struct error *err)
{
	return plugin_profile_parse("own.yaml", text, strlen(text), profile, err);
}

static void test_members(void)
{
	struct plugin_profile profile CLEANUP_PLUGIN_PROFILE = {0};
	struct error err = {0};
	UNIT_INT(parse("source: https://example.com\n"
		       "command: my-plugin --dir '{plugin-dir}'\n"
		       "resource: example.com/gpu\n"
		       "privateMounts: true\n"
		       "environment:\n  STRATEGY: 'a b'\n  COUNT: 010\n"
		       "optionalCalls: [PreStartContainer]\n"
		       "expect: [one, two]\n",
		       &profile, &err),
		 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(profile.source, "https://example.com");
	UNIT_STRING(profile.command, "my-plugin --dir '{plugin-dir}'");
	UNIT_STRING(profile.resource, "example.com/gpu");
	UNIT_INT(profile.private_mounts, true);
	UNIT_INT(profile.names.count, 2);
	UNIT_STRING(profile.names.items[1], "COUNT");
	UNIT_STRING(profile.values.items[1], "010");
	UNIT_INT(profile.optional_calls.count, 1);
	UNIT_STRING(profile.optional_calls.items[0], "PreStartContainer");
	UNIT_INT(profile.expect.count, 2);
	UNIT_STRING(profile.expect.items[1], "two");
}

static void expect_refused(const char *text, const char *wanted)
{
	struct plugin_profile profile CLEANUP_PLUGIN_PROFILE = {0};
	struct error err = {0};
	UNIT_INT(parse(text, &profile, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, wanted);
}

/* Bad input: file, line and member are named. */
static void test_refused(void)
{
	expect_refused("", "own.yaml:1: expected members such as 'source: ...'");
	expect_refused("- a\n", "own.yaml:1: expected members such as 'source: ...'");
	expect_refused("command: a\n", "own.yaml: source: is missing");
	expect_refused("source: a\n", "own.yaml: expected one of command and attach");
	expect_refused("source: a\ncommand: b\nattach: /c\n",
		       "own.yaml: expected one of command and attach");
	expect_refused("source: a\nresources: b\n", "own.yaml:2: unknown member 'resources'");
	expect_refused("source: a\nsource: b\n", "own.yaml:2: a second member 'source'");
	expect_refused("source: a\n? [b]\n: c\n", "own.yaml:2: unknown member ''");
	expect_refused("source: [a]\n", "own.yaml:1: source: expected a text of one line");
	expect_refused("source: a\ncommand: ''\n",
		       "own.yaml:2: command: expected a text of one line");
	expect_refused("source: a\ncommand: \"b\\nc\"\n",
		       "own.yaml:2: command: expected a text of one line");
	expect_refused("source: \"a\\0b\"\n", "own.yaml:1: source: expected a text of one line");
	expect_refused("source: a\nprivateMounts: yes\n",
		       "own.yaml:2: privateMounts: expected true or false");
	expect_refused("source: a\nexpect: b\n", "own.yaml:2: expect: expected a list");
	expect_refused("source: a\nexpect:\n- b\n- {c: d}\n",
		       "own.yaml:4: expect: expected a text of one line");
	expect_refused("environment: [A=b]\n",
		       "own.yaml:1: environment: expected members such as 'NAME: value'");
	expect_refused("environment:\n  A=b: c\n",
		       "own.yaml:2: environment: 'A=b' is not a variable's name");
	expect_refused("environment:\n  A: [b]\n", "own.yaml:2: A: expected a text of one line");
	expect_refused("source: a\n---\nsource: b\n", "own.yaml:2: a second document begins");
}

/* A list that aliases make long is bounded by the size of the file: each alias is a node of it. */
static void test_aliases(void)
{
	struct plugin_profile profile CLEANUP_PLUGIN_PROFILE = {0};
	struct error err = {0};
	UNIT_INT(parse("source: a\ncommand: b\nexpect: [&x one, *x]\n", &profile, &err), 0);
	UNIT_INT(profile.expect.count, 2);
	expect_refused("source: a\ncommand: b\nexpect: &x [one, *x]\n",
		       "own.yaml:3: expect: expected a text of one line");
}

UNIT_MAIN("plugin profiles", {"members", test_members}, {"refused", test_refused},
	  {"aliases", test_aliases})
