/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "reports/pages/page.h"

static const char *text_written(struct text *out, const char *string)
{
	text_reset(out);
	html_text(out, string);
	return text_string(out);
}

static void test_text_is_escaped(void)
{
	struct text out CLEANUP_TEXT = {0};
	CU_ASSERT_STRING_EQUAL(text_written(&out, "<script>a&b</script>"),
			       "&lt;script&gt;a&amp;b&lt;/script&gt;");
	CU_ASSERT_STRING_EQUAL(text_written(&out, "\x1b[31m\xff"), "\xef\xbf\xbd[31m\xef\xbf\xbd");
	CU_ASSERT_STRING_EQUAL(text_written(&out, "a\xe2\x80\xae"
						  "b\xe2\x81\xa6"),
			       "aU+202EbU+2066");
	CU_ASSERT_STRING_EQUAL(text_written(&out, "\xd8\x9c<"), "U+061C&lt;");
	CU_ASSERT_STRING_EQUAL(text_written(&out, "\x7f\xc2\x9b"), "U+007FU+009B");
	CU_ASSERT_STRING_EQUAL(text_written(&out, "größe"), "größe");
	CU_ASSERT_STRING_EQUAL(text_written(&out, NULL), "");
}

static void test_attributes(void)
{
	struct text out CLEANUP_TEXT = {0};
	html_addf(&out, "<a title=\"%s\" class=\"%s\">", "\"><img src=x onerror='1'>", "x");
	CU_ASSERT_STRING_EQUAL(text_string(&out), "<a title=\"&quot;&gt;&lt;img src=x "
						  "onerror=&apos;1&apos;&gt;\" class=\"x\">");
}

static const char *file_linked(struct text *out, const char *path)
{
	text_reset(out);
	html_file_link(out, path, "e");
	return text_string(out);
}

static void test_links_lead_below_the_folder(void)
{
	static const char *const wrong[] = {
		"",	    "/etc/passwd",
		"../x",	    "a/../b",
		"a//b",	    "..",
		"./a",	    "a/..",
		"a/",	    "C:/x",
		"\\\\h\\x", "a\\..\\b",
		"file:x",   "javascript:alert(1)",
		"//host",   NULL,
	};
	struct text out CLEANUP_TEXT = {0};
	for (size_t i = 0; wrong[i] != NULL; i++)
		CU_ASSERT_STRING_EQUAL(file_linked(&out, wrong[i]), "e");
	CU_ASSERT_STRING_EQUAL(file_linked(&out, "evidence/a.b/1 \"?#%&é.json"),
			       "<a href=\"evidence/a.b/1%20%22%3F%23%25%26%C3%A9.json\">e</a>");
	CU_ASSERT_STRING_EQUAL(file_linked(&out, "evidence/..a/x~1"),
			       "<a href=\"evidence/..a/x~1\">e</a>");
}

static void test_links_to_the_web(void)
{
	struct text out CLEANUP_TEXT = {0};
	html_web_link(&out, "javascript:alert(1)", "<t>");
	CU_ASSERT_STRING_EQUAL(text_string(&out), "&lt;t&gt;");
	text_reset(&out);
	html_web_link(&out, "https://a.example/?b=\"&c", "t");
	CU_ASSERT_STRING_EQUAL(text_string(&out), "<a href=\"https://a.example/?b=&quot;&amp;c\" "
						  "rel=\"noopener noreferrer\">t</a>");
}

static void test_ids_are_apart(void)
{
	struct text one CLEANUP_TEXT = {0};
	struct text other CLEANUP_TEXT = {0};
	html_add_id(&one, "c-", "a b\"<~20");
	html_add_id(&other, "c-", "a b\"< ");
	CU_ASSERT_STRING_EQUAL(text_string(&one), "c-a~20b~22~3C~7E20");
	CU_ASSERT_STRING_NOT_EQUAL(text_string(&one), text_string(&other));
}

static void test_durations(void)
{
	static const struct {
		int64_t ms;
		const char *text;
	} rows[] = {{0, "0 ms"},       {999, "999 ms"},	     {1000, "1.0 s"},
		    {59999, "59.9 s"}, {60000, "1 min 0 s"}, {200999, "3 min 20 s"}};
	struct text out CLEANUP_TEXT = {0};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		text_reset(&out);
		page_add_duration(&out, rows[i].ms);
		CU_ASSERT_STRING_EQUAL(text_string(&out), rows[i].text);
	}
}

static const char *heat_of(struct text *out, size_t part, size_t whole)
{
	text_reset(out);
	page_heat_cell(out, PAGE_BAD, part, whole, NULL, "fail", "<");
	return text_string(out);
}

static void test_heat_has_six_steps(void)
{
	struct text out CLEANUP_TEXT = {0};
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 0, 0), "class=\"heat bad h0\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 0, 9), "class=\"heat bad h1\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 1, 9), "class=\"heat bad h2\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 9, 9), "class=\"heat bad h5\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 9, 9), "&lt;</td>"));
}

UNIT_MAIN("html", {"text is escaped", test_text_is_escaped}, {"so are attributes", test_attributes},
	  {"links to files lead below the folder", test_links_lead_below_the_folder},
	  {"links to the web are of http", test_links_to_the_web},
	  {"ids of different strings differ", test_ids_are_apart},
	  {"durations are for people", test_durations},
	  {"heat has six steps", test_heat_has_six_steps})
