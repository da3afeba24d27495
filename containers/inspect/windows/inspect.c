/* SPDX-License-Identifier: MIT */
#include "containers/inspect/inspect.h"

/* There is no /proc: a process in a Windows container is looked at by its runtime alone. */
int container_inspect(int64_t pid, struct container_view *out, struct error *err)
{
	(void)pid;
	(void)out;
	return error_set(err, ERROR_UNSUPPORTED,
			 "containers cannot be looked at from outside on Windows");
}

void container_view_free(struct container_view *view)
{
	*view = (struct container_view){0};
}

int container_compare(const struct container_view *view, const struct image_manifest *manifest,
		      struct text_list *differences, struct error *err)
{
	(void)manifest;
	(void)differences;
	return container_inspect(view->pid, NULL, err);
}

int container_see(const struct container_view *view, const char *path, struct container_sight *out,
		  struct error *err)
{
	(void)path;
	(void)out;
	return container_inspect(view->pid, NULL, err);
}

bool container_host_place(const char *path, struct container_place *out)
{
	(void)path;
	(void)out;
	return false;
}
