/* SPDX-License-Identifier: MIT */
/* On Windows an existing runtime is used; nothing is started, imported or mounted. */
#include "containers/runtime/runtime.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/runtime/runtime_internal.h"

#include <stdlib.h>
#include <string.h>

#define RUNTIME_ONLY_ATTACHED                                                                      \
	"a private containerd is for Linux; name a running one with --cri "                        \
	"npipe:////./pipe/containerd-containerd"

int runtime_is_offered(struct error *err)
{
	return error_set(err, ERROR_UNSUPPORTED, RUNTIME_ONLY_ATTACHED);
}

int runtime_start(uv_loop_t *loop, const struct runtime_options *options, struct runtime **out,
		  struct error *err)
{
	(void)loop;
	(void)options;
	(void)out;
	return error_set(err, ERROR_UNSUPPORTED, RUNTIME_ONLY_ATTACHED);
}

/* For the user alone, like all that is in it. */
static int runtime_make_own_directory(const char *base, char **path, struct error *err)
{
	int rc = base != NULL ? file_make_directories(base, 0700, err) : 0;

	return rc == 0 ? file_make_temporary(base, "gpucert-run-", path, err) : rc;
}

static int runtime_new(uv_loop_t *loop, const char *base, const char *address, struct runtime **out,
		       struct error *err)
{
	struct runtime *runtime = calloc(1, sizeof(*runtime));
	int rc = 0;

	if (runtime == NULL)
		return error_memory(err);
	rc = runtime_make_own_directory(base, &runtime->directory, err);
	if (rc < 0) {
		runtime_free(runtime);
		return rc;
	}
	runtime->loop = loop;
	runtime->work_directory = path_join(runtime->directory, "work");
	runtime->address = strdup(address);
	*out = runtime;
	if (runtime->work_directory == NULL || runtime->address == NULL)
		return error_memory(err);
	runtime->description = (struct runtime_description){
		.run_id = path_base(runtime->directory),
		.name = "",
		.version = "",
		.api_version = "",
		.snapshotter = "",
		.snapshotter_reason = "",
		.address = runtime->address,
		.cgroup_parent = "",
		.work_directory = runtime->work_directory,
	};
	return file_make_directories(runtime->work_directory, 0700, err);
}

int runtime_attach(uv_loop_t *loop, const char *address, const char *base_directory,
		   struct runtime **out, struct error *err)
{
	struct runtime *runtime = NULL;
	int rc = runtime_new(loop, base_directory, address, &runtime, err);

	rc = rc == 0 ? runtime_connect(runtime, err) : rc;
	if (rc < 0) {
		(void)runtime_stop(runtime, NULL);
		return error_wrap(err, rc, "container runtime %s", address);
	}
	*out = runtime;
	return 0;
}

int runtime_import(struct runtime *runtime, const char *archive, const char *const *references,
		   struct error *err)
{
	(void)runtime;
	(void)references;
	return error_set(err, ERROR_UNSUPPORTED, "%s: images are not imported on Windows", archive);
}

int runtime_stop(struct runtime *runtime, struct error *err)
{
	struct error step = {0};
	int result = 0;
	int rc = 0;

	if (runtime == NULL)
		return 0;
	result = runtime_disconnect(runtime, err);
	rc = file_remove_tree(runtime->directory, &step);
	if (rc < 0 && result == 0)
		result = error_copy(err, &step);
	runtime_free(runtime);
	return result;
}

int runtime_make_directory(char **path, struct error *err)
{
	return file_make_temporary(NULL, "gpucert-", path, err);
}

int runtime_remove_directory(const char *path, size_t *undone, struct error *err)
{
	(void)undone;
	return file_remove_tree(path, err);
}

int runtime_recover(const struct runtime_recovery *recovery, struct runtime_recovered *recovered,
		    struct error *err)
{
	(void)recovery;
	(void)err;
	if (recovered != NULL)
		*recovered = (struct runtime_recovered){0};
	return 0;
}
