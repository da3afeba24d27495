/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/cli/commands.h"

#include <stdio.h>
#include <string.h>

void command_print(const char *command, const char *what)
{
	struct text line CLEANUP_TEXT = {0};
	text_add_escaped(&line, what, strlen(what));
	(void)fprintf(stderr, "gpucert %s: %s\n", command, text_string(&line));
}

int command_failed(const char *command, int rc, const struct error *err)
{
	command_print(command, err->text);
	return rc == ERROR_ARGUMENT ? OPTIONS_EXIT_USAGE : COMMAND_EXIT_FAILED;
}
