/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "reports/pages/html.h"

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
	struct doc doc CLEANUP_DOC = {.writer = &doc_html};
	doc_add(&doc, "<a class=x title='%s'></a>", "\"><img src=x onerror='1'>");
	CU_ASSERT_STRING_EQUAL(text_string(&doc.out),
			       "<a class=\"x\" title=\"&quot;&gt;&lt;img src=x "
			       "onerror=&apos;1&apos;&gt;\"></a>");
}

/* What cannot hold an element ends before it; values are no markup. */
static void test_elements_end(void)
{
	static const char *const headings[] = {"a", NULL};
	struct doc doc CLEANUP_DOC = {.writer = &doc_html};
	doc_table(&doc, "", "<t>", "l", headings);
	doc_add(&doc, "<tr class=%s><th><b>%s %d%%</b><td class=c hidden><span>%.2s<tr>", "", "<i>",
		1, "xyz");
	doc_end(&doc, DOC_BOX);
	UNIT_STRING(
		text_string(&doc.out),
		"<div><table aria-label=\"&lt;t&gt;\"><thead><tr><th scope=\"col\">a</th></tr>\n"
		"</thead><tbody id=\"l\"><tr><th scope=\"row\"><b>&lt;i&gt; 1%</b></th>"
		"<td class=\"c\" hidden><span>xy</span></td></tr>\n<tr></tr>\n</tbody></table>"
		"</div>\n");
	UNIT_INT(doc.depth, 0);
}

static const char *file_linked(struct doc *doc, const char *path)
{
	text_reset(&doc->out);
	html_file_link(doc, path, "e");
	return text_string(&doc->out);
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
	struct doc out CLEANUP_DOC = {.writer = &doc_html};
	for (size_t i = 0; wrong[i] != NULL; i++)
		CU_ASSERT_STRING_EQUAL(file_linked(&out, wrong[i]), "e");
	CU_ASSERT_STRING_EQUAL(file_linked(&out, "evidence/a.b/1 \"?#%&é.json"),
			       "<a href=\"evidence/a.b/1%20%22%3F%23%25%26%C3%A9.json\">e</a>");
	CU_ASSERT_STRING_EQUAL(file_linked(&out, "evidence/..a/x~1"),
			       "<a href=\"evidence/..a/x~1\">e</a>");
}

static void test_links_to_the_web(void)
{
	struct doc doc CLEANUP_DOC = {.writer = &doc_html};
	html_web_link(&doc, "javascript:alert(1)", "<t>");
	CU_ASSERT_STRING_EQUAL(text_string(&doc.out), "&lt;t&gt;");
	text_reset(&doc.out);
	html_web_link(&doc, "https://a.example/?b=\"&c", "t");
	CU_ASSERT_STRING_EQUAL(text_string(&doc.out),
			       "<a href=\"https://a.example/?b=&quot;&amp;c\" "
			       "rel=\"noopener noreferrer\">t</a>");
}

static const char *with_id(struct doc *doc, const char *id)
{
	text_reset(&doc->out);
	doc_add(doc, "<a id=c-%s href=%s#c-%s></a>", id, "a%20b", id);
	return text_string(&doc->out);
}

static void test_ids_are_apart(void)
{
	struct doc one CLEANUP_DOC = {.writer = &doc_html};
	struct doc other CLEANUP_DOC = {.writer = &doc_html};
	CU_ASSERT_STRING_EQUAL(
		with_id(&one, "a b\"<~20"),
		"<a id=\"c-a~20b~22~3C~7E20\" href=\"a%20b#c-a~20b~22~3C~7E20\"></a>");
	CU_ASSERT_STRING_NOT_EQUAL(text_string(&one.out), with_id(&other, "a b\"< "));
}

static void test_durations(void)
{
	static const struct {
		int64_t ms;
		const char *text;
	} rows[] = {{0, "0 ms"},       {999, "999 ms"},	     {1000, "1.0 s"},
		    {59999, "59.9 s"}, {60000, "1 min 0 s"}, {200999, "3 min 20 s"}};
	struct doc doc CLEANUP_DOC = {.writer = &doc_html};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		text_reset(&doc.out);
		doc_duration(&doc, rows[i].ms);
		CU_ASSERT_STRING_EQUAL(text_string(&doc.out), rows[i].text);
	}
}

static const char *heat_of(struct doc *doc, size_t part, size_t whole)
{
	text_reset(&doc->out);
	doc_begin(doc, DOC_ROW, NULL);
	doc_heat(doc, DOC_BAD, part, whole, NULL, "fail", "<");
	return text_string(&doc->out);
}

static void test_heat_has_six_steps(void)
{
	struct doc out CLEANUP_DOC = {.writer = &doc_html};
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 0, 0), "class=\"heat bad h0\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 0, 9), "class=\"heat bad h1\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 1, 9), "class=\"heat bad h2\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 9, 9), "class=\"heat bad h5\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(heat_of(&out, 9, 9), "&lt;</td>"));
}

UNIT_MAIN("html", {"text is escaped", test_text_is_escaped}, {"so are attributes", test_attributes},
	  {"elements end where they must", test_elements_end},
	  {"links to files lead below the folder", test_links_lead_below_the_folder},
	  {"links to the web are of http", test_links_to_the_web},
	  {"ids of different strings differ", test_ids_are_apart},
	  {"durations are for people", test_durations},
	  {"heat has six steps", test_heat_has_six_steps})
