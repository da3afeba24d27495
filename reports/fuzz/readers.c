/* SPDX-License-Identifier: MIT */
#include "reports/fuzz/readers.h"

#include "reports/pages/compare/page.h"
#include "reports/pages/matrix/matrix.h"
#include "reports/writer.h"

#include <stdlib.h>
#include <string.h>

/* Untrusted text has no say about the terminal, and none about the file. */
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
	struct comparison comparison CLEANUP_COMPARISON = {0};
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	if (comparison_make(from, to, &comparison, &err) == 0) {
		comparison_print(&comparison, false, &out);
		check_text(text_string(&out), out.size);
		text_reset(&out);
		comparison_print_markdown(&comparison, &out);
		check_text(text_string(&out), out.size);
		cJSON *json CLEANUP_JSON = comparison_to_json(&comparison);
		if (json == NULL)
			abort();
		struct compare_page page CLEANUP_COMPARE_PAGE = {0};
		text_reset(&out);
		compare_page_add(&page, &comparison, "from", "to");
		compare_page_print(&page, &out);
		check_text(text_string(&out), out.size);
	}
}

void fuzz_fold(cJSON *const *reports, size_t count)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct matrix matrix CLEANUP_MATRIX = {0};
	struct error err = {0};
	for (size_t i = 0; i < count && i < ARRAY_SIZE(names); i++) {
		compare(reports[0], reports[i]);
		(void)matrix_add(&matrix, names[i], reports[i], &err);
	}
	matrix_sort(&matrix);
	check_formats(&matrix);
}
