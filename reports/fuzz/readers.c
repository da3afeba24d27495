/* SPDX-License-Identifier: MIT */
#include "reports/fuzz/readers.h"

#include "reports/pages/compare/compare.h"
#include "reports/pages/matrix/matrix.h"
#include "reports/writer.h"

#include <stdlib.h>
#include <string.h>

/* Untrusted text must affect neither the terminal nor the file's structure. */
static void check_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		uint32_t code = 0;
		const size_t length = text_character(text + i, size - i, &code);
		if (length == 0 || (text_is_hazardous(code) && strchr("\t\r\n", (int)code) == NULL))
			abort();
		i += length;
	}
}

void fuzz_write(const cJSON *report, bool own)
{
	const struct writer_options options = {.columns = 80};
	for (const struct writer *writer = writers; writer->name != NULL; writer++) {
		char *text CLEANUP_FREE = NULL;
		struct error err = {0};
		int rc = writer_print(writer, report, &options, &text, &err);
		if (rc != err.code || (own && rc < 0))
			abort();
		if (rc == 0)
			check_text(text, strlen(text));
	}
}

static void check_formats(struct matrix *matrix)
{
	const struct writer_options options = {.columns = 80};
	struct text_list unread CLEANUP_TEXT_LIST = {0};
	for (const char *const *format = matrix_formats; *format != NULL; format++) {
		struct text out CLEANUP_TEXT = {0};
		matrix_print(matrix, *format, &options, &unread, &out);
		check_text(text_string(&out), out.size);
	}
}

static void compare(const cJSON *from, const cJSON *to)
{
	static const struct doc_writer *const forms[] = {&doc_terminal, &doc_markdown, &doc_html};
	struct comparison comparison CLEANUP_COMPARISON = {0};
	struct error err = {0};
	if (comparison_make(from, to, &comparison, &err) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct doc doc CLEANUP_DOC = {.writer = forms[i]};
		struct text page CLEANUP_TEXT = {0};
		comparison_write(&comparison, 0, &doc);
		comparison_print(&doc, &page);
		check_text(text_string(&doc.out), doc.out.size);
		check_text(text_string(&page), page.size);
	}
	cJSON *json CLEANUP_JSON = comparison_to_json(&comparison);
	if (json == NULL)
		abort();
}

void fuzz_fold(cJSON *const *reports, size_t count)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct matrix matrix CLEANUP_MATRIX = {0};
	struct error err = {0};
	for (size_t i = 0; i < count && i < ARRAY_SIZE(names); i++) {
		compare(reports[0], reports[i]);
		(void)matrix_add(names[i], reports[i], &matrix, &err);
	}
	matrix_sort(&matrix);
	check_formats(&matrix);
}
