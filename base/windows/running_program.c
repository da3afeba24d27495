/* SPDX-License-Identifier: MIT */
#include "base/running_program.h"

void running_program_free(struct running_program *program)
{
	text_list_free(&program->words);
}

int running_program_read(int pid, struct running_program *out, struct error *err)
{
	(void)out;
	return error_set(err, ERROR_UNSUPPORTED,
			 "process %d: its program is not looked up on Windows", pid);
}

char *running_program_path(const struct running_program *program, const char *path)
{
	(void)program;
	(void)path;
	return NULL;
}

char *running_program_find(const struct running_program *program, const char *name)
{
	(void)program;
	(void)name;
	return NULL;
}
