/* SPDX-License-Identifier: MIT */
#include "containers/cdi/apply.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/grant/merge.h"

#include <stdlib.h>
#include <string.h>

static const char *find_conflict(const struct cdi_registry *registry, const char *name)
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
	if (find_conflict(registry, name) != NULL)
		return NULL;
	for (size_t i = registry->count; i > 0; i--) {
		if (text_list_has(&registry->files[i - 1].spec.devices, name))
			return &registry->files[i - 1];
	}
	return NULL;
}

bool cdi_file_is_of_kind(const struct cdi_file *file, const char *kind)
{
	const char *declared = json_pointer_string(file->spec.document, "/kind");
	const char *slash = strchr(kind, '/');
	const char *base = path_base(file->path);
	if (declared != NULL || slash == NULL)
		return text_equal(declared, kind);
	size_t vendor = (size_t)(slash - kind);
	return strncmp(base, kind, vendor) == 0 && base[vendor] == '-' &&
	       text_starts_with(base + vendor + 1, slash + 1);
}

char *cdi_registry_explain(const struct cdi_registry *registry, const char *name)
{
	const char *conflict = find_conflict(registry, name);
	if (conflict != NULL)
		return text_format("in two Specs of one folder: %s",
				   conflict + strlen(name) + strlen(": "));

	char *kind CLEANUP_FREE = memory_copy_start(name, strcspn(name, "="));
	struct text why = {0};
	text_add(&why, "in no Spec");
	for (size_t i = 0; i < registry->count; i++) {
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

static void add_node(struct grant_merge *merge, const cJSON *node)
{
	const char *path = string_of(node, "path");
	const char *host_path = string_of(node, "hostPath");
	const char *type = string_of(node, "type");
	const char *permissions = string_of(node, "permissions");
	if (strcmp(type, "p") == 0 || strcmp(permissions, "none") == 0)
		return;

	double major = json_pointer_number(node, "/major");
	double minor = json_pointer_number(node, "/minor");
	char *numbers CLEANUP_FREE =
		text_format("/dev/%s/%.0f:%.0f", strcmp(type, "b") == 0 ? "block" : "char",
			    major > 0 ? major : 0, minor > 0 ? minor : 0);
	if (type[0] != '\0' && major > 0)
		host_path = numbers;
	struct grant_entry entry = {
		.container_path = path,
		.host_path = host_path[0] != '\0' ? host_path : path,
		.permissions = permissions[0] != '\0' ? permissions : "rwm",
	};
	grant_merge_add(merge, GRANT_DEVICE, entry);
}

static void add_mount(struct grant_merge *merge, const cJSON *mount)
{
	const char *type = string_of(mount, "type");
	bool read_only = false;
	bool bind = type[0] == '\0' || strcmp(type, "bind") == 0 || strcmp(type, "none") == 0;
	json_each (option, json_pointer(mount, "/options")) {
		read_only = read_only || strcmp(option->valuestring, "ro") == 0;
		bind = bind || strcmp(option->valuestring, "bind") == 0 ||
		       strcmp(option->valuestring, "rbind") == 0;
	}
	if (!bind)
		return;
	struct grant_entry entry = {
		.container_path = string_of(mount, "containerPath"),
		.host_path = string_of(mount, "hostPath"),
		.read_only = read_only,
	};
	grant_merge_add(merge, GRANT_MOUNT, entry);
}

static void add_name(struct grant_merge *merge, const char *name)
{
	grant_merge_add(merge, GRANT_CDI_DEVICE, (struct grant_entry){.name = name});
}

/* The edits of a source. A device with edits that a grant cannot express stays in it by name. */
static void add_edits(struct grant_merge *merge, const char *source, const cJSON *edits,
		      const char *name)
{
	static const char *const others[] = {"hooks", "netDevices", "intelRdt"};
	grant_merge_from(merge, source);
	json_each (variable, cJSON_GetObjectItemCaseSensitive(edits, "env")) {
		const char *equals = strchr(variable->valuestring, '=');
		struct text_list *strings = &merge->out->strings;
		size_t size = (size_t)(equals - variable->valuestring);
		text_list_take(strings, memory_copy_start(variable->valuestring, size));
		struct grant_entry entry = {.name = strings->items[strings->count - 1],
					    .value = equals + 1};
		grant_merge_add(merge, GRANT_ENV, entry);
	}
	json_each (node, cJSON_GetObjectItemCaseSensitive(edits, "deviceNodes"))
		add_node(merge, node);
	json_each (mount, cJSON_GetObjectItemCaseSensitive(edits, "mounts"))
		add_mount(merge, mount);

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const cJSON *other = cJSON_GetObjectItemCaseSensitive(edits, others[i]);
		if (other != NULL && other->child != NULL) {
			add_name(merge, name);
			return;
		}
	}
}

void cdi_apply(const struct cdi_registry *registry, const struct grant *grant, struct grant *out)
{
	struct grant_merge merge CLEANUP_GRANT_MERGE = {.out = out, .replaces = true};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool *applied CLEANUP_FREE = memory_allocate(registry->count + 1, sizeof(*applied));

	/* Everything but the names of CDI devices is copied. */
	for (enum grant_kind kind = 0; kind < GRANT_CDI_DEVICE; kind++) {
		grant_each (entry, &grant->lists[kind]) {
			merge.source = entry->resource;
			if (kind != GRANT_ANNOTATION ||
			    !text_starts_with(entry->name, GRANT_CDI_ANNOTATION))
				grant_merge_add(&merge, kind, *entry);
		}
	}
	for (size_t i = 0; i < grant->conflict_count; i++)
		grant_add_conflict(out, &grant->conflicts[i]);

	grant_list_cdi(grant, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		grant_keep(out, &name);
		const struct cdi_file *file = cdi_registry_find(registry, name);
		if (file == NULL) {
			add_name(&merge, name);
			continue;
		}

		/* The Spec's own edits come once, before those of its first device. */
		bool *spec_applied = &applied[file - registry->files];
		if (!*spec_applied)
			add_edits(&merge, file->path,
				  json_pointer(file->spec.document, "/containerEdits"), name);
		*spec_applied = true;
		const char *own = name + strlen(file->spec.kind) + 1;
		json_each (device, json_pointer(file->spec.document, "/devices")) {
			if (strcmp(string_of(device, "name"), own) == 0)
				add_edits(&merge, name, json_pointer(device, "/containerEdits"),
					  name);
		}
	}
}
