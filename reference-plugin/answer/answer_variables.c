/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "reference-plugin/answer/answer_internal.h"
#include "reference-plugin/inventory/wire.h"

#include <string.h>

/* The Vulkan loader takes lists of manifests (Vulkan-Loader, LoaderDriverInterface.md). */
static bool is_path_list(const char *name)
{
	static const char *const names[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES",
					    "VK_ADD_DRIVER_FILES"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static int join_lists(const char *first, const char *second, char **out, struct error *err)
{
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	struct text joined CLEANUP_TEXT = {0};
	int rc = text_list_split(&paths, second, ':', err);

	if (rc < 0)
		return rc;
	text_add(&joined, first);
	for (size_t i = 0; i < paths.count; i++) {
		struct text_list have CLEANUP_TEXT_LIST = {0};

		rc = text_list_split(&have, text_string(&joined), ':', err);
		if (rc < 0)
			return rc;
		if (!text_list_has(&have, paths.items[i]))
			text_addf(&joined, ":%s", paths.items[i]);
	}
	*out = text_take(&joined);
	return *out != NULL ? 0 : error_memory(err);
}

/* The OpenCL loader takes one manifest or one directory of manifests (ocl-icd(7)), so several
 * manifests are named by the directory that they are mounted in. */
static char *manifest_directory(const char *value)
{
	return text_ends_with(value, ".icd") ? path_directory(value) : path_normalize(value);
}

static int join_manifests(const struct answer_variable *first, const struct answer_variable *second,
			  char **out, struct error *err)
{
	char *left CLEANUP_FREE = manifest_directory(first->entry.value);
	char *right CLEANUP_FREE = manifest_directory(second->entry.value);

	if (left == NULL || right == NULL)
		return error_memory(err);
	if (strcmp(left, right) != 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "devices '%s' and '%s' have their OpenCL manifests in different "
				 "directories: '%s' and '%s'",
				 first->device, second->device, left, right);
	*out = STEAL(left);
	return 0;
}

/* Puts the value of `next` into `kept`, which has the same name. */
static int join(struct answer *answer, struct answer_variable *kept,
		const struct answer_variable *next, struct error *err)
{
	char *value = NULL;
	int rc = 0;

	if (strcmp(kept->entry.value, next->entry.value) == 0)
		return 0;
	if (is_path_list(kept->entry.key))
		rc = join_lists(kept->entry.value, next->entry.value, &value, err);
	else if (strcmp(kept->entry.key, "OCL_ICD_VENDORS") == 0)
		rc = join_manifests(kept, next, &value, err);
	else
		rc = error_set(err, ERROR_UNSUPPORTED,
			       "devices '%s' and '%s' need different values of %s: '%s' and '%s'",
			       kept->device, next->device, kept->entry.key, kept->entry.value,
			       next->entry.value);
	if (rc == 0)
		rc = text_list_take(&answer->strings, value, err);
	if (rc == 0)
		kept->entry.value = answer->strings.items[answer->strings.count - 1];
	return rc;
}

static int by_name(const void *a, const void *b)
{
	const struct answer_variable *left = a;
	const struct answer_variable *right = b;
	int order = strcmp(left->entry.key, right->entry.key);

	return order != 0 ? order : strcmp(left->device, right->device);
}

static size_t collect(struct answer_variable *variables, const struct answer_request *request)
{
	size_t collected = 0;

	for (size_t i = 0; i < request->count; i++) {
		const struct discovery_device *found = request->devices[i];

		for (size_t j = 0; j < found->variable_count; j++) {
			struct answer_variable *variable = &variables[collected++];

			v1beta1__container_allocate_response__envs_entry__init(&variable->entry);
			variable->entry.key = wire_string(found->environment[j].name);
			variable->entry.value = wire_string(found->environment[j].value);
			variable->device = found->id;
		}
	}
	return collected;
}

static int drop_repeats(struct answer *answer, size_t count, size_t *kept, struct error *err)
{
	struct answer_variable *variables = answer->variables;

	for (size_t i = 0; i < count; i++) {
		struct answer_variable *last = *kept > 0 ? &variables[*kept - 1] : NULL;
		int rc = 0;

		if (last == NULL || strcmp(last->entry.key, variables[i].entry.key) != 0) {
			variables[(*kept)++] = variables[i];
			continue;
		}
		rc = join(answer, last, &variables[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int answer_add_variables(struct answer *answer, const struct answer_request *request,
			 struct error *err)
{
	size_t wanted = 0;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < request->count; i++)
		wanted += request->devices[i]->variable_count;
	answer->variables = calloc(wanted + 1, sizeof(*answer->variables));
	answer->message.envs =
		calloc(wanted + 1, sizeof(V1beta1__ContainerAllocateResponse__EnvsEntry *));
	if (answer->variables == NULL || answer->message.envs == NULL)
		return error_memory(err);
	wanted = collect(answer->variables, request);
	qsort(answer->variables, wanted, sizeof(*answer->variables), by_name);
	rc = drop_repeats(answer, wanted, &kept, err);
	for (size_t i = 0; rc == 0 && i < kept; i++)
		answer->message.envs[i] = &answer->variables[i].entry;
	answer->message.n_envs = kept;
	return rc;
}
