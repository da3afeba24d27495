/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

int json_append_line(const char *path, const cJSON *json, struct error *err)
{
	char *text CLEANUP_FREE = json_print_compact(json);
	struct text line CLEANUP_TEXT = {0};
	text_addf(&line, "%s\n", text);
	/* Unbuffered: a single write, so a killed process leaves all of it or nothing. */
	FILE *file CLEANUP_FILE = fopen(path, "ab");
	if (file == NULL || setvbuf(file, NULL, _IONBF, 0) != 0 ||
	    fwrite(line.data, 1, line.size, file) != line.size)
		return error_set(err, ERROR_IO, "%s: cannot be written", path);
	return 0;
}

int json_read_lines(const char *path, cJSON **out, struct error *err)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_exists(path) ? file_read(path, JSON_FILE_MAX, &data, &size, err) : 0;
	for (char *line = data, *end = NULL; rc == 0 && line != NULL && *line != '\0'; line = end) {
		cJSON *json CLEANUP_JSON = NULL;
		end = line + strcspn(line, "\n");
		rc = json_parse(line, (size_t)(end - line), &json, err);
		if (rc == 0)
			(void)cJSON_AddItemToArray(array, STEAL(json));
		end += *end == '\n';
	}
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	*out = STEAL(array);
	return 0;
}
