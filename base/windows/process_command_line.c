/* SPDX-License-Identifier: MIT */
#include "base/process_internal.h"

#include <string.h>

char *process_command_line(const char *const *argv)
{
	struct text out CLEANUP_TEXT = {0};
	for (size_t i = 0; argv[i] != NULL; i++) {
		text_add(&out, i != 0 ? " " : "");
		if (argv[i][0] != '\0' && strpbrk(argv[i], " \t\n\v\"") == NULL)
			text_add(&out, argv[i]);
		else
			text_add_argument(&out, argv[i]);
	}
	return text_take(&out);
}
