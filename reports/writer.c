/* SPDX-License-Identifier: MIT */
#include "reports/writer.h"

#include "base/style.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int json_write(const cJSON *report, const struct writer_options *options, struct text *out,
		      struct error *err)
{
	char *json CLEANUP_FREE = json_print(report);
	(void)options, (void)err;
	text_add(out, json);
	return 0;
}

const struct writer writers[] = {
	{"summary", NULL, summary_write}, /* only for the terminal */
	{"json", "report.json", json_write},
	{"junit", "junit.xml", junit_write},
	{"markdown", "report.md", markdown_write},
	{"sonobuoy", NULL, sonobuoy_write},
#if GPUCERT_MODULE_PAGES
	{"html", "report.html", html_write},
#endif
	{NULL},
};

const char *const writer_names[] = {"summary", "json", "junit", "markdown", "sonobuoy",
#if GPUCERT_MODULE_PAGES
				    "html",
#endif
				    NULL};

const struct writer *writer_find(const char *name)
{
	size_t position = text_position(writer_names, name);
	return writer_names[position] != NULL ? &writers[position] : NULL;
}

int writer_print(const struct writer *writer, const cJSON *report,
		 const struct writer_options *options, char **out, struct error *err)
{
	struct text text CLEANUP_TEXT = {0};
	int rc = writer->write(report, options, &text, err);
	if (rc == 0)
		*out = text_take(&text);
	return rc;
}

struct writer_options writer_options_of_stdout(void)
{
	return (struct writer_options){
		.color = style_enabled(STDOUT_FILENO),
		.columns = isatty(STDOUT_FILENO) == 1 ? style_columns(STDOUT_FILENO) : 0,
	};
}

int writer_show(const char *name, const cJSON *report, const char *location, struct error *err)
{
	struct writer_options options = writer_options_of_stdout();
	char *text CLEANUP_FREE = NULL;
	options.location = location;
	int rc = writer_print(writer_find(name), report, &options, &text, err);
	if (rc == 0 && (fputs(text, stdout) == EOF || fflush(stdout) != 0))
		rc = error_set(err, ERROR_IO, "%s", strerror(errno));
	return rc;
}
