/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/answer.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "reference-plugin/answer/answer_internal.h"

#include <errno.h>
#include <stdlib.h>

static int check_gives_access(const struct answer_request *request, struct error *err)
{
	for (size_t i = 0; i < request->count; i++) {
		const struct discovery_device *device = request->devices[i];

		if (device->node_count == 0 && device->file_count == 0)
			return error_set(err, ERROR_UNSUPPORTED,
					 "device '%s' has neither device nodes nor files to give",
					 device->id);
	}
	return 0;
}

int answer_stat(const struct answer_host *host, const char *path, struct stat *status)
{
	char *below CLEANUP_FREE = NULL;

	if (host->root == NULL || host->root[0] == '\0')
		return stat(path, status);
	below = path_join(host->root, path);
	if (below == NULL) {
		errno = ENOMEM;
		return -1;
	}
	return stat(below, status);
}

static int build_linux(struct answer *out, const struct answer_request *request, struct error *err)
{
	int rc = check_gives_access(request, err);

	if (rc == 0)
		rc = answer_add_nodes(out, request, err);
	if (rc == 0)
		rc = answer_add_mounts(out, request, err);
	if (rc == 0)
		rc = answer_add_variables(out, request, err);
	return rc;
}

static int build_windows(struct answer *out, const struct answer_request *request,
			 struct error *err)
{
	int rc = answer_add_device_strings(out, request, err);

	if (rc == 0 && !request->rules->skip_runtime_mounts)
		rc = answer_add_driver_files(out, request, err);
	return rc;
}

int answer_build(const struct answer_host *host, const struct answer_rules *rules,
		 const struct discovery_device *const *devices, size_t count, struct answer *out,
		 struct error *err)
{
	struct answer_request request = {host, rules, devices, count};

	v1beta1__container_allocate_response__init(&out->message);
	return host->windows ? build_windows(out, &request, err) : build_linux(out, &request, err);
}

void answer_free(struct answer *answer)
{
	free(answer->message.devices);
	free(answer->message.mounts);
	free(answer->message.envs);
	free(answer->nodes);
	free(answer->mounts);
	free(answer->files);
	free(answer->variables);
	text_list_free(&answer->strings);
	text_list_free(&answer->warnings);
	*answer = (struct answer){0};
}
