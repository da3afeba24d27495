/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet_internal.h"

#include "base/file.h"

#include <string.h>

enum { NAME_MAX_BYTES = 253, LABEL_MAX_BYTES = 63 };

/* Most of the bytes in a list of a large cluster, and not needed here. */
static const char *const unneeded[] = {"images",
				       "managedFields",
				       "reason",
				       "addresses",
				       "allocatable",
				       "capacity",
				       "volumes",
				       "volumesInUse",
				       "volumesAttached",
				       "volumeMounts",
				       "lastHeartbeatTime",
				       "lastTransitionTime",
				       "kubectl.kubernetes.io/last-applied-configuration",
				       NULL};

int fleet_list_each(const cJSON *list,
		    int (*use)(const struct json_at *item, void *user, struct error *err),
		    void *user, struct error *err)
{
	const struct json_at root = json_root(list);
	struct json_at items = {0};
	int rc = json_need(&root, "items", JSON_ARRAY, &items, err);
	for (struct json_at at = {.node = json_first(items.node), .parent = &items};
	     rc == 0 && at.node != NULL; at.node = at.node->next, at.index++)
		rc = use(&at, user, err);
	return rc;
}

static int check_item(const struct json_at *at, void *user, struct error *err)
{
	const char *kind = user;
	const char *of = kind;
	int rc = json_have_string(at, "kind", &of, err);
	if (rc == 0 && !text_equal(of, kind))
		return json_error(at, err, "kind: expected %s, got '%.64s'", kind, of);
	return rc == 0 && at->index == FLEET_ITEMS_MAX
		       ? error_set(err, ERROR_LIMIT, "items: more than %d", (int)FLEET_ITEMS_MAX)
		       : rc;
}

static int check_list(const cJSON *list, const char *kind, struct error *err)
{
	const struct json_at root = json_root(list);
	const char *saw = "";
	int rc = json_need_string(&root, "kind", &saw, err);
	if (rc == 0 && !text_equal(saw, "List") &&
	    (!text_starts_with(saw, kind) || !text_equal(saw + strlen(kind), "List")))
		return error_set(err, ERROR_FORMAT,
				 "kind: expected List, as kubectl get -o json prints, got '%.64s'",
				 saw);
	return rc == 0 ? fleet_list_each(list, check_item, (void *)(uintptr_t)kind, err) : rc;
}

int fleet_list_read(const char *path, const char *kind, cJSON **list, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	struct error why = {0};
	size_t size = 0;
	size_t again = 0;
	int rc = file_read(path, FLEET_FILE_MAX, &data, &size, err);
	if (rc < 0)
		return rc;
	rc = json_parse_strict(data, json_drop_members(data, size, unneeded), &json, &why);

	/* Line and column are those of the file. */
	if (rc == ERROR_FORMAT && json == NULL) {
		char *whole CLEANUP_FREE = NULL;
		cJSON *unused CLEANUP_JSON = NULL;
		if (file_read(path, FLEET_FILE_MAX, &whole, &again, NULL) == 0 && again == size)
			(void)json_parse(whole, size, &unused, &why);
	}
	if (rc == 0)
		rc = check_list(json, kind, &why);
	if (rc < 0)
		return error_set(err, rc, "%s: %s", path, why.text);
	*list = STEAL(json);
	return 0;
}

bool fleet_is_subdomain(const char *name)
{
	const char *at = name;
	for (;;) {
		const size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-");
		if (size == 0 || size > LABEL_MAX_BYTES || at[0] == '-' || at[size - 1] == '-')
			return false;
		if (at[size] != '.')
			return at[size] == '\0' && strlen(name) <= NAME_MAX_BYTES;
		at += size + 1;
	}
}
