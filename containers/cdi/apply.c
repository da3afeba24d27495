/* SPDX-License-Identifier: MIT */
#include "containers/cdi/apply.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "containers/grant/merge.h"

#include <stdlib.h>
#include <string.h>

static const char *conflict_of(const struct cdi_registry *registry, const char *name)
{
	size_t size = strlen(name);
	text_each (conflict, &registry->conflicts) {
		if (strncmp(conflict, name, size) == 0 && conflict[size] == ':')
			return conflict;
	}
	return NULL;
}

const struct cdi_file *cdi_registry_find(const struct cdi_registry *registry, const char *name)
{
	if (conflict_of(registry, name) != NULL)
		return NULL;
	for (size_t i = registry->count; i > 0; i--) {
		if (text_list_has(&registry->files[i - 1].spec.devices, name))
			return &registry->files[i - 1];
	}
	return NULL;
}

bool cdi_file_is_of_kind(const struct cdi_file *file, const char *kind)
{
	const char *told = json_pointer_string(file->spec.document, "/kind");
	const char *slash = strchr(kind, '/');
	const char *base = path_base(file->path);
	if (told != NULL || slash == NULL)
		return text_equal(told, kind);
	size_t vendor = (size_t)(slash - kind);
	return strncmp(base, kind, vendor) == 0 && base[vendor] == '-' &&
	       text_starts_with(base + vendor + 1, slash + 1);
}

char *cdi_registry_explain(const struct cdi_registry *registry, const char *name)
{
	const char *conflict = conflict_of(registry, name);
	char *kind CLEANUP_FREE = strndup(name, strcspn(name, "="));
	struct text why = {0};
	if (kind == NULL)
		return NULL;
	text_add(&why, conflict != NULL ? "in two Specs of one folder: " : "in no Spec");
	if (conflict != NULL)
		text_add(&why, conflict + strlen(name) + strlen(": "));
	for (size_t i = 0; conflict == NULL && i < registry->count; i++) {
		const struct cdi_file *file = &registry->files[i];
		if (file->why != NULL && cdi_file_is_of_kind(file, kind))
			text_addf(&why, "; %s is not one: %s", file->path, file->why);
	}
	return text_take(&why);
}

static const char *string_of(const cJSON *object, const char *key)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
	return member != NULL && member->valuestring != NULL ? member->valuestring : "";
}

/* "NAME=VALUE" */
static int add_variable(struct grant_merge *merge, const char *variable)
{
	const char *equals = strchr(variable, '=');
	struct text_list *strings = &merge->out->strings;
	int rc =
		text_list_take(strings, strndup(variable, (size_t)(equals - variable)), merge->err);
	return rc == 0 ? grant_merge_add(
				 merge, GRANT_ENV,
				 (struct grant_entry){.name = strings->items[strings->count - 1],
						      .value = equals + 1})
		       : rc;
}

static int add_node(struct grant_merge *merge, const cJSON *node)
{
	const char *path = string_of(node, "path");
	const char *host_path = string_of(node, "hostPath");
	const char *type = string_of(node, "type");
	const char *permissions = string_of(node, "permissions");
	double major = json_pointer_number(node, "/major");
	double minor = json_pointer_number(node, "/minor");
	char *numbers CLEANUP_FREE =
		text_format("/dev/%s/%.0f:%.0f", strcmp(type, "b") == 0 ? "block" : "char",
			    major > 0 ? major : 0, minor > 0 ? minor : 0);
	if (numbers == NULL)
		return error_memory(merge->err);
	if (strcmp(type, "p") == 0 || strcmp(permissions, "none") == 0)
		return 0;
	if (type[0] != '\0' && major > 0)
		host_path = numbers;
	return grant_merge_add(
		merge, GRANT_DEVICE,
		(struct grant_entry){.container_path = path,
				     .host_path = host_path[0] != '\0' ? host_path : path,
				     .permissions = permissions[0] != '\0' ? permissions : "rwm"});
}

static int add_mount(struct grant_merge *merge, const cJSON *mount)
{
	const char *type = string_of(mount, "type");
	bool read_only = false;
	bool bind = type[0] == '\0' || strcmp(type, "bind") == 0 || strcmp(type, "none") == 0;
	json_each (option, json_pointer(mount, "/options")) {
		read_only = read_only || strcmp(option->valuestring, "ro") == 0;
		bind = bind || strcmp(option->valuestring, "bind") == 0 ||
		       strcmp(option->valuestring, "rbind") == 0;
	}
	return bind ? grant_merge_add(merge, GRANT_MOUNT,
				      (struct grant_entry){
					      .container_path = string_of(mount, "containerPath"),
					      .host_path = string_of(mount, "hostPath"),
					      .read_only = read_only})
		    : 0;
}

/* *whole: these edits are all that there is. */
static int add_edits(struct grant_merge *merge, const cJSON *edits, bool *whole)
{
	static const char *const others[] = {"hooks", "netDevices", "intelRdt"};
	int rc = 0;
	json_each (variable, cJSON_GetObjectItemCaseSensitive(edits, "env")) {
		rc = rc == 0 ? add_variable(merge, variable->valuestring) : rc;
	}
	json_each (node, cJSON_GetObjectItemCaseSensitive(edits, "deviceNodes")) {
		rc = rc == 0 ? add_node(merge, node) : rc;
	}
	json_each (mount, cJSON_GetObjectItemCaseSensitive(edits, "mounts")) {
		rc = rc == 0 ? add_mount(merge, mount) : rc;
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const cJSON *other = cJSON_GetObjectItemCaseSensitive(edits, others[i]);
		*whole = *whole && (other == NULL || other->child == NULL);
	}
	return rc;
}

static const cJSON *find_device(const struct cdi_file *file, const char *name)
{
	size_t kind = strlen(file->spec.kind);
	json_each (device, json_pointer(file->spec.document, "/devices")) {
		if (strcmp(string_of(device, "name"), name + kind + 1) == 0)
			return cJSON_GetObjectItemCaseSensitive(device, "containerEdits");
	}
	return NULL;
}

/* The edits of a source; what they do not tell keeps the name in the grant. */
static int apply(struct grant_merge *merge, const char *source, const cJSON *edits,
		 const char *name)
{
	bool whole = true;
	int rc = grant_merge_from(merge, source);
	if (rc == 0)
		rc = add_edits(merge, edits, &whole);
	return rc == 0 && !whole ? grant_merge_add(merge, GRANT_CDI_DEVICE,
						   (struct grant_entry){.name = name})
				 : rc;
}

/* Those of its Spec, before those of the first device of it, and its own. */
static int apply_device(struct grant_merge *merge, const struct cdi_registry *registry,
			bool *applied, const struct cdi_file *file, const char *name)
{
	bool *spec = &applied[file - registry->files];
	const cJSON *edits = json_pointer(file->spec.document, "/containerEdits");
	int rc = !*spec ? apply(merge, file->path, edits, name) : 0;
	*spec = true;
	return rc == 0 ? apply(merge, name, find_device(file, name), name) : rc;
}

/* What does not name CDI devices. */
static int copy(struct grant_merge *merge, const struct grant *grant)
{
	int rc = 0;
	for (enum grant_kind kind = 0; rc == 0 && kind < GRANT_CDI_DEVICE; kind++) {
		grant_each (entry, &grant->lists[kind]) {
			merge->source = entry->resource;
			if (rc == 0 && (kind != GRANT_ANNOTATION ||
					!text_starts_with(entry->name, GRANT_CDI_ANNOTATION)))
				rc = grant_merge_add(merge, kind, *entry);
		}
	}
	for (size_t i = 0; rc == 0 && i < grant->conflict_count; i++)
		rc = grant_add_conflict(merge->out, &grant->conflicts[i], merge->err);
	return rc;
}

int cdi_apply(const struct cdi_registry *registry, const struct grant *grant, struct grant *out,
	      struct error *err)
{
	struct grant_merge merge CLEANUP_GRANT_MERGE = {.out = out, .replaces = true, .err = err};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool *applied CLEANUP_FREE = calloc(registry->count + 1, sizeof(*applied));
	int rc = applied != NULL ? copy(&merge, grant) : error_memory(err);
	if (rc == 0)
		rc = grant_list_cdi(grant, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		const char *name = names.items[i];
		const struct cdi_file *file = cdi_registry_find(registry, name);
		rc = grant_keep(out, &name, err);
		if (rc == 0)
			rc = file != NULL ? apply_device(&merge, registry, applied, file, name)
					  : grant_merge_add(&merge, GRANT_CDI_DEVICE,
							    (struct grant_entry){.name = name});
	}
	return rc;
}
