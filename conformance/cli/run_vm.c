/* SPDX-License-Identifier: MIT */
#include "conformance/cli/run_vm.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

#include <errno.h>
#include <unistd.h>

int run_vm_start(const struct run_vm *vm, const char *out, const char *const *arguments,
		 struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	char *program CLEANUP_FREE = NULL;
	int rc = path_of_helper("vm/vm-run", &program, err);
	if (rc == 0)
		rc = file_make_directories(out, 0755, err);
	if (rc < 0)
		return rc;

	char *memory CLEANUP_FREE = text_format("%lld", (long long)vm->memory);
	char *cpus CLEANUP_FREE = text_format("%lld", (long long)vm->cpus);
	const char *const own[] = {program, "--out", out, "--memory", memory, "--cpus", cpus, "--"};
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		text_list_add(&words, own[i]);
	for (; *arguments != NULL; arguments++)
		text_list_add(&words, *arguments);

	(void)execv(program, words.items);
	return error_system(err, errno, "%s", program);
}
