/* SPDX-License-Identifier: MIT */
#include "reports/report_link.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <string.h>

/* Does '\' separate, as on Windows? */
static bool is_separator(char c)
{
	return c == '/' || (c == '\\' && path_base("\\")[0] == '\0');
}

void report_add_encoded(const char *path, struct text *out)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	for (; *path != '\0'; path++) {
		if (is_separator(*path))
			text_add(out, "/");
		else if (strchr(plain, *path) != NULL)
			text_append(out, path, 1);
		else
			text_addf(out, "%%%02X", (unsigned char)*path);
	}
}

void report_add_link(const char *path, struct text *out)
{
	const bool is_folder = file_is_directory(path);
	char *in CLEANUP_FREE = is_folder ? memory_copy(path) : path_directory(path);
	char *page CLEANUP_FREE = path_join(in, "report.html");
	if (!file_exists(page)) {
		free(page);
		page = is_folder ? path_join(in, "report.json") : memory_copy(path);
	}

	if (path_is_absolute(page) && !is_separator(page[0])) { /* "C:\\" */
		text_addf(out, "file:///%.2s", page);
		report_add_encoded(page + 2, out);
		return;
	}
	if (path_is_absolute(page)) /* "/runs", "\\\\server\\share" */
		text_add(out, is_separator(page[1]) ? "file:" : "file://");
	report_add_encoded(page, out);
}
