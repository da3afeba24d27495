/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer.h"

#include "base/cleanup.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>

static int check_gives_access(const struct inventory *inventory, const size_t *devices,
			      size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct discovery_device *found = inventory->devices[devices[i]].found;

		if (inventory->windows && found->location_path[0] == '\0')
			return error_set(err, ERROR_UNSUPPORTED,
					 "device '%s' has no location path to assign it by",
					 found->id);
		if (!inventory->windows && found->node_count == 0 && found->file_count == 0)
			return error_set(err, ERROR_UNSUPPORTED,
					 "device '%s' has neither device nodes nor files to give",
					 found->id);
	}
	return 0;
}

int answer_stat(const struct inventory *inventory, const char *path, struct stat *status)
{
	CLEANUP_FREE char *below = NULL;

	if (inventory->root == NULL || inventory->root[0] == '\0')
		return stat(path, status);
	below = path_join(inventory->root, path);
	if (below == NULL) {
		errno = ENOMEM;
		return -1;
	}
	return stat(below, status);
}

int answer_build(const struct inventory *inventory, const size_t *devices, size_t count,
		 const struct additional_mounts *additional, struct answer *out, struct error *err)
{
	int result = check_gives_access(inventory, devices, count, err);

	v1beta1__container_allocate_response__init(&out->message);
	if (result == 0)
		result = answer_add_nodes(out, inventory, devices, count, err);
	if (result == 0)
		result = answer_add_mounts(out, inventory, devices, count, additional, err);
	if (result == 0)
		result = answer_add_variables(out, inventory, devices, count, err);
	return result;
}

void answer_free(struct answer *answer)
{
	free(answer->message.devices);
	free(answer->message.mounts);
	free(answer->message.envs);
	free(answer->nodes);
	free(answer->mounts);
	free(answer->variables);
	text_list_free(&answer->strings);
	*answer = (struct answer){0};
}
