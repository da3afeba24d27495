/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/cli/commands.h"

#include <stdio.h>
#include <string.h>

int command_failed(const char *command, int rc, const struct error *err)
{
	struct text line CLEANUP_TEXT = {0};
	text_add_escaped(&line, err->text, strlen(err->text));
	(void)fprintf(stderr, "gpucert %s: %s\n", command, text_string(&line));
	return rc == ERROR_ARGUMENT ? OPTIONS_EXIT_USAGE : COMMAND_EXIT_FAILED;
}
