/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "reports/tests/cases.h"

#include <ctype.h>
#include <sodium.h>

static char *page_of(const cJSON *report)
{
	const struct writer_options plain = {0};
	struct error err = {0};
	char *page = NULL;
	if (writer_print(writer_find("html"), report, &plain, &page, &err) < 0)
		CU_FAIL(err.text);
	return page;
}

static size_t count_of(const char *page, const char *what)
{
	size_t count = 0;
	for (const char *at = strstr(page, what); at != NULL; at = strstr(at + 1, what))
		count++;
	return count;
}

static bool is_void(const char *name, size_t size)
{
	static const char *const names[] = {"meta", "br", "input"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
			return true;
	}
	return false;
}

/* As strspn(), or strcspn() with `in` false. With strict_string_checks these read all of a large page at each call. */
static size_t span(const char *at, const char *set, bool in)
{
	size_t size = 0;
	while (at[size] != '\0' && (strchr(set, at[size]) != NULL) == in)
		size++;
	return size;
}

enum { DEPTH_MAX = 64 };

struct open_tags {
	const char *names[DEPTH_MAX];
	size_t sizes[DEPTH_MAX];
	size_t depth;
};

/* The end of a tag, whose attributes are name="value" with a value in double quotes and without a markup character, or a
 * name; NULL: they are not. */
static const char *skip_attributes(const char *at)
{
	while (*at == ' ' || *at == '\n') {
		size_t name = span(
			at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789",
			true);
		at += 1 + name;
		if (name == 0 || strncmp(at - name, "on", 2) == 0 ||
		    (name == 5 && strncmp(at - name, "style", 5) == 0))
			return NULL;
		if (*at != '=')
			continue;
		at += 2;
		at += span(at, "\"<>", false);
		if (*at++ != '"')
			return NULL;
	}
	at += *at == '/';
	return *at == '>' ? at : NULL;
}

/* Takes the tag at `at`, which follows '<', and returns what follows it; NULL: it is not well-formed. */
static const char *take_tag(struct open_tags *open, const char *at)
{
	bool ends = *at == '/';
	const char *name = at + (ends ? 1 : 0);
	size_t size = span(name, "abcdefghijklmnopqrstuvwxyz0123456789", true);
	const char *end = skip_attributes(name + size);
	if (size == 0 || end == NULL)
		return NULL;
	if (ends) {
		size_t top = open->depth == 0 ? 0 : --open->depth;
		if (open->sizes[top] != size || memcmp(open->names[top], name, size) != 0)
			return NULL;
	} else if (!is_void(name, size) && end[-1] != '/') {
		if (open->depth == DEPTH_MAX)
			return NULL;
		open->names[open->depth] = name;
		open->sizes[open->depth++] = size;
	}
	return end + 1;
}

/* Every element is closed in its order, SVG as well, and no markup came in from the report. Returns where it is not so. */
static const char *find_fault(const char *page)
{
	struct open_tags open = {0};
	for (const char *at = strchr(page, '\n'); *(at += span(at, "<", false)) != '\0';) {
		const char *next = take_tag(&open, at + 1);
		if (next == NULL)
			return at;
		/* Their content is no markup. */
		if (strncmp(at, "<style>", 7) == 0)
			next = strstr(next, "</style>");
		if (strncmp(at, "<script>", 8) == 0)
			next = strstr(next, "</script>");
		at = next;
	}
	return open.depth == 0 ? NULL : "an element is not closed";
}

static void expect_well_formed(const char *name, const char *page)
{
	const char *fault = find_fault(page);
	CU_ASSERT_PTR_NULL(fault);
	if (fault != NULL)
		(void)fprintf(stderr, "%s: %.80s\n", name, fault);
}

static void test_pages_are_well_formed(void)
{
	for (const char *const *name = golden_cases; *name != NULL; name++) {
		cJSON *report CLEANUP_JSON = golden_report(*name);
		char *page CLEANUP_FREE = page_of(report);
		UNIT_NEED(page != NULL);
		expect_well_formed(*name, page);
		CU_ASSERT_EQUAL(count_of(page, "<script"), 1);
		CU_ASSERT_EQUAL(count_of(page, "<style"), 1);
		CU_ASSERT_EQUAL(count_of(page, " src="), 0);
		CU_ASSERT_EQUAL(count_of(page, "<link"), 0);
		CU_ASSERT_EQUAL(count_of(page, "url("), 0);
	}
}

/* The script shows the filters; all else is there without it. */
static void test_everything_is_there_without_the_script(void)
{
	cJSON *report CLEANUP_JSON = golden_report("outcomes");
	char *page CLEANUP_FREE = page_of(report);
	UNIT_NEED(page != NULL);
	char *script = strstr(page, "<script>");
	UNIT_NEED(script != NULL);
	*script = '\0';
	json_each (check, json_pointer(report, "/checks")) {
		char *item CLEANUP_FREE =
			text_format(" id=\"c-%s\"", json_pointer_string(check, "/id"));
		CU_ASSERT_EQUAL(count_of(page, item), 1);
	}
	json_each (requirement, json_pointer(report, "/requirements")) {
		char *row CLEANUP_FREE =
			text_format(" id=\"r-%s\"", json_pointer_string(requirement, "/id"));
		CU_ASSERT_EQUAL(count_of(page, row), 1);
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(page, "FAILED"));
	CU_ASSERT_PTR_NOT_NULL(strstr(page, "/devices/count: got 1, expected 0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(page, "<b>What to do:</b> Give each container"));
	CU_ASSERT_EQUAL(count_of(page, " hidden>"), 3); /* two filters and the theme */
	CU_ASSERT_EQUAL(count_of(page, "class=\"failure\""), 6);
}

static void test_hostile_text_stays_text(void)
{
	cJSON *report CLEANUP_JSON = golden_report("hostile");
	char *page CLEANUP_FREE = page_of(report);
	UNIT_NEED(page != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(page, "&lt;script&gt;&amp;&quot;&apos;"));
	CU_ASSERT_PTR_NOT_NULL(strstr(page, "U+202E"));
	CU_ASSERT_PTR_NULL(strstr(page, "\xe2\x80\xae"));
	CU_ASSERT_PTR_NULL(strstr(page, "href=\"../"));
	CU_ASSERT_PTR_NULL(strstr(page, "href=\"/"));
	for (const char *c = page; *c != '\0'; c++)
		CU_ASSERT_TRUE_FATAL((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t' ||
				     *c == '\r');
}

/* The policy names the digest of the element's text. */
static void expect_allowed(const char *page, const char *tag, const char *end)
{
	const char *begin = strstr(page, tag);
	const char *close = begin != NULL ? strstr(begin, end) : NULL;
	unsigned char hash[crypto_hash_sha256_BYTES] = {0};
	char base64[64] = "";
	UNIT_NEED(close != NULL);
	begin += strlen(tag);
	(void)crypto_hash_sha256(hash, (const unsigned char *)begin, (size_t)(close - begin));
	(void)sodium_bin2base64(base64, sizeof(base64), hash, sizeof(hash),
				sodium_base64_VARIANT_ORIGINAL);
	char *source CLEANUP_FREE = text_format("'sha256-%s'", base64);
	CU_ASSERT_EQUAL(count_of(page, source), 1);
}

static void test_policy_allows_its_own_alone(void)
{
	cJSON *report CLEANUP_JSON = golden_report("complete");
	char *page CLEANUP_FREE = page_of(report);
	UNIT_NEED(page != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(
		page,
		"content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"));
	CU_ASSERT_PTR_NULL(strstr(page, "unsafe"));
	expect_allowed(page, "<style>", "</style>");
	expect_allowed(page, "<script>", "</script>");
}

/* The golden report's first check, as often as this, with as many assertions. */
static cJSON *large_report(int checks, int assertions, const char *outcome)
{
	cJSON *report = golden_report("complete");
	cJSON *list = cJSON_GetObjectItemCaseSensitive(report, "checks");
	cJSON *first = cJSON_DetachItemFromArray(list, 0);
	cJSON *seen = cJSON_GetObjectItemCaseSensitive(first, "assertions");
	cJSON *assertion CLEANUP_JSON = cJSON_DetachItemFromArray(seen, 0);
	(void)cJSON_ReplaceItemInObject(first, "outcome", cJSON_CreateString(outcome));
	for (int i = 0; i < assertions; i++)
		(void)cJSON_AddItemToArray(seen, cJSON_Duplicate(assertion, true));
	for (int i = 0; i < checks; i++) {
		cJSON *check = cJSON_Duplicate(first, true);
		char *id CLEANUP_FREE = text_format("suite%d.check-%d", i % 20, i);
		(void)cJSON_ReplaceItemInObject(check, "id", cJSON_CreateString(id));
		(void)cJSON_AddItemToArray(list, check);
	}
	cJSON_Delete(first);
	return report;
}

static void test_pages_are_small(void)
{
	cJSON *usual CLEANUP_JSON = large_report(250, 200, "pass");
	cJSON *many CLEANUP_JSON = large_report(5000, 1, "fail");
	char *page CLEANUP_FREE = page_of(usual);
	char *large CLEANUP_FREE = page_of(many);
	UNIT_NEED(page != NULL && large != NULL);
	CU_ASSERT_TRUE(strlen(page) < (size_t)300 * 1024);
	CU_ASSERT_PTR_NOT_NULL(strstr(page, "more that held, in report.json"));
	CU_ASSERT_TRUE(strlen(large) < (size_t)3 * 1024 * 1024);
	CU_ASSERT_PTR_NOT_NULL(strstr(large, "id=\"c-suite19.check-4999\""));
	expect_well_formed("large", large);
}

static char *page_with_observations(const char *observations)
{
	cJSON *report CLEANUP_JSON = golden_report("complete");
	cJSON *check = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "checks"), 0);
	(void)cJSON_AddItemToObject(check, "observations", cJSON_Parse(observations));
	char *page = page_of(report);
	if (page != NULL)
		expect_well_formed(observations, page);
	return page;
}

/* Devices of the golden report: dev0 and dev1. */
static void test_isolation_is_drawn_and_told(void)
{
	static const struct {
		const char *observation, *word, *look;
	} rows[] = {
		{"{\"granted\":[\"dev0\"],\"saw\":[\"dev0\"],\"others\":0", "only its own",
		 "granted and seen</span></td>"},
		{"{\"granted\":[],\"saw\":[],\"others\":0", "none", NULL},
		{"{\"granted\":[\"dev0\"],\"saw\":[\"dev0\",\"dev1\"],\"others\":0",
		 "others as well", "seen, but not granted</span></td>"},
		{"{\"granted\":[\"dev0\"],\"saw\":[],\"others\":0", "not all of its own",
		 "granted, but not seen</span></td>"},
		{"{\"granted\":[\"dev0\"],\"saw\":[],\"others\":1", "only its own",
		 "granted and seen</span> 1</td>"},
		{"{\"granted\":[\"dev0\"],\"saw\":[\"dev0\",\"dev9\"],\"others\":0",
		 "others as well", "seen, but not granted</span> 1</td>"},
		{"{\"granted\":[\"dev0\"],\"saw\":[],\"others\":4", "others as well",
		 "seen, but not granted</span> 4</td>"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *observations CLEANUP_FREE =
			text_format("[%s,\"container\":\"<b>one\"}]", rows[i].observation);
		char *word CLEANUP_FREE = text_format(">%s</span>", rows[i].word);
		char *page CLEANUP_FREE = page_with_observations(observations);
		UNIT_NEED(page != NULL);
		CU_ASSERT_EQUAL(count_of(page, word), 1);
		CU_ASSERT_EQUAL(count_of(page, "aria-label=\"Isolation\""), 1);
		CU_ASSERT_EQUAL(count_of(page, "<th scope=\"row\">&lt;b&gt;one "), 1);
		CU_ASSERT_TRUE(rows[i].look == NULL || count_of(page, rows[i].look) >= 1);
		CU_ASSERT_TRUE(rows[i].look != NULL || count_of(page, "seen</span>") == 0);
	}
}

static void test_observations_reach_the_report(void)
{
	static const char *const lines[] = {
		LINE_RUN_BEGIN,
		LINE_PLAN,
		LINE_BEGIN,
		"\"type\":\"observation\",\"check\":\"a.one\",\"container\":\"c\",\"granted\":[\"d\"],\"saw\":[\"d\",\"e\"],\"others\":2",
		LINE_FAIL,
		NULL};
	struct error err = {0};
	cJSON *report CLEANUP_JSON = report_of_lines(lines, &err);
	UNIT_NEED(report != NULL);
	CU_ASSERT_TRUE(
		text_equal(json_pointer_string(report, "/checks/0/observations/0/saw/1"), "e"));
	CU_ASSERT_EQUAL((int)json_pointer_number(report, "/checks/0/observations/0/others"), 2);
	CU_ASSERT_PTR_NULL(json_pointer(report, "/checks/1/observations"));
}

UNIT_MAIN("report page", {"pages are well-formed", test_pages_are_well_formed},
	  {"everything is there without the script", test_everything_is_there_without_the_script},
	  {"hostile text stays text", test_hostile_text_stays_text},
	  {"the policy allows its own alone", test_policy_allows_its_own_alone},
	  {"pages are small", test_pages_are_small},
	  {"isolation is drawn and told", test_isolation_is_drawn_and_told},
	  {"observations reach the report", test_observations_reach_the_report})
