/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "discovery/recorded/format.h"
#include "discovery/source.h"

#include <string.h>

/* More than any node has; they keep hostile documents cheap. */
enum { DEVICES_MAX = 1024, FILES_MAX = 4096, LIST_MAX = 256, DIAGNOSTICS_MAX = 1024 };

static const int64_t memory_max = INT64_C(1) << 53;

static int recorded_array(const struct json_at *object, const char *key, size_t max,
			  struct json_at *out, struct error *err)
{
	int rc = json_have(object, key, JSON_ARRAY, out, err);

	if (rc == 0 && json_count(out) > max)
		return json_error(out, err, "more than %zu elements", max);
	return rc;
}

static int recorded_strings(const struct json_at *object, const struct recorded_string *strings,
			    struct builder *builder, void *object_of_offsets, struct error *err)
{
	for (size_t i = 0; strings[i].key != NULL; i++) {
		const char *value = NULL;
		int rc = json_have_string(object, strings[i].key, &value, err);

		if (rc < 0)
			return rc;
		*(const char **)(void *)((char *)object_of_offsets + strings[i].offset) =
			builder_string(builder, value);
	}
	return 0;
}

/* The position of the value in `names`. */
static int recorded_choice(const struct json_at *object, const char *key, const char *const *names,
			   size_t count, size_t *out, struct error *err)
{
	struct json_at at = {0};
	int rc = json_need(object, key, JSON_STRING, &at, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++) {
		if (text_equal(at.node->valuestring, names[i])) {
			*out = i;
			return 0;
		}
	}
	struct text known CLEANUP_TEXT = {0};

	for (size_t i = 0; i < count; i++)
		text_addf(&known, "%s\"%s\"",
			  i == 0	  ? ""
			  : i + 1 < count ? ", "
					  : " or ",
			  names[i]);
	return json_error(&at, err, "expected %s", text_string(&known));
}

static int recorded_pci(const struct json_at *device_at, struct builder *builder,
			struct discovery_device *device, struct error *err)
{
	static const char *const keys[] = {
		"address",	   "vendor",   "device", "subsystemVendor",
		"subsystemDevice", "revision", NULL};
	const char *address = NULL;
	struct json_at pci = {0};
	int rc = json_have(device_at, "pci", JSON_OBJECT, &pci, err);

	if (rc < 0 || pci.node == NULL)
		return rc;
	rc = json_only_keys(&pci, keys, err);
	if (rc == 0)
		rc = json_have_string(&pci, "address", &address, err);
	if (rc < 0)
		return rc;
	device->pci_address = builder_string(builder, address);
	for (const struct recorded_id *id = recorded_pci_ids; id->key != NULL; id++) {
		struct json_at at = {0};
		long long value = 0;

		rc = json_have(&pci, id->key, JSON_STRING, &at, err);
		if (rc < 0)
			return rc;
		if (at.node == NULL)
			continue;
		if (!text_starts_with(at.node->valuestring, "0x") ||
		    text_to_int64(at.node->valuestring, id->key, 0, id->max, &value, NULL) < 0)
			return json_error(&at, err, "expected \"0x\" and at most %d digits",
					  id->digits);
		*(int32_t *)(void *)((char *)device + id->offset) = (int32_t)value;
	}
	return 0;
}

static int recorded_driver(const struct json_at *device_at, struct builder *builder,
			   struct discovery_device *device, struct error *err)
{
	static const char *const keys[] = {"name", "version", "userMode",  "key",
					   "date", "inf",     "storePath", NULL};
	struct json_at driver = {0};
	int rc = json_have(device_at, "driver", JSON_OBJECT, &driver, err);

	if (rc < 0 || driver.node == NULL)
		return rc;
	rc = json_only_keys(&driver, keys, err);
	return rc < 0 ? rc
		      : recorded_strings(&driver, recorded_driver_strings, builder, device, err);
}

static int recorded_memory(const struct json_at *device_at, struct discovery_device *device,
			   struct error *err)
{
	static const char *const keys[] = {"dedicated", "shared", NULL};
	struct json_at memory = {0};
	int rc = json_have(device_at, "memory", JSON_OBJECT, &memory, err);

	if (rc < 0 || memory.node == NULL)
		return rc;
	rc = json_only_keys(&memory, keys, err);
	if (rc == 0)
		rc = json_have_int(&memory, "dedicated", 0, memory_max, &device->dedicated_memory,
				   err);
	if (rc == 0)
		rc = json_have_int(&memory, "shared", 0, memory_max, &device->shared_memory, err);
	return rc;
}

typedef void recorded_name_adder(struct builder *builder, struct draft *draft, const char *name);

static int recorded_names(const struct json_at *device_at, const char *key, const char *what,
			  recorded_name_adder *add, struct builder *builder, struct draft *draft,
			  struct error *err)
{
	struct json_at names = {0};
	int rc = recorded_array(device_at, key, LIST_MAX, &names, err);

	for (size_t i = 0; rc == 0 && i < json_count(&names); i++) {
		struct json_at name = {0};

		rc = json_element(&names, i, JSON_STRING, &name, err);
		if (rc == 0 && name.node->valuestring[0] == '\0')
			rc = json_error(&name, err, "expected %s", what);
		if (rc == 0)
			add(builder, draft, name.node->valuestring);
	}
	return rc;
}

static int recorded_allocatable(const struct json_at *device_at, struct builder *builder,
				struct discovery_device *device, struct error *err)
{
	const char *reason = NULL;
	int rc = json_have_bool(device_at, "allocatable", &device->allocatable, err);

	if (rc == 0)
		rc = json_have_string(device_at, "notAllocatableReason", &reason, err);
	device->not_allocatable_reason = builder_string(builder, reason);
	return rc;
}

/* Recordings that name one location path name all that their device has. */
static void recorded_only_location_path(struct builder *builder, struct draft *draft)
{
	if (draft->location_path_count == 0 && draft->device.location_path[0] != '\0')
		builder_add_location_path(builder, draft, draft->device.location_path);
}

/* An absolute path of either system without "..": "/usr/lib/x.so", "C:\Windows\System32\x.dll". */
static int recorded_path(const struct json_at *object, const char *key, const char **out,
			 struct error *err)
{
	struct json_at at = {0};
	int rc = json_need(object, key, JSON_STRING, &at, err);

	if (rc < 0)
		return rc;
	const char *path = at.node->valuestring;
	bool drive = ((path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z') && path[1] == ':' &&
		     path[2] == '\\';
	if (path[0] != '/' && !drive)
		return json_error(&at, err, "expected an absolute path");
	for (const char *p = path; (p = strstr(p, "..")) != NULL; p += 2) {
		bool begins = p[-1] == '/' || p[-1] == '\\';

		if (begins && (p[2] == '\0' || p[2] == '/' || p[2] == '\\'))
			return json_error(&at, err, "a path may not contain \"..\"");
	}
	*out = path;
	return 0;
}

static int recorded_node(const struct json_at *at, struct builder *builder, struct draft *draft,
			 struct error *err)
{
	static const char *const keys[] = {"path", "containerPath", "permissions", NULL};
	struct discovery_node node = {"", "", ""};
	int rc = json_only_keys(at, keys, err);

	if (rc == 0)
		rc = recorded_path(at, "path", &node.path, err);
	if (rc == 0)
		rc = recorded_path(at, "containerPath", &node.container_path, err);
	if (rc == 0)
		rc = json_need_string(at, "permissions", &node.permissions, err);
	if (rc < 0)
		return rc;
	if (node.permissions[0] == '\0' ||
	    node.permissions[strspn(node.permissions, "rwm")] != '\0') {
		struct json_at member = {.parent = at, .key = "permissions"};

		return json_error(&member, err, "expected letters of \"rwm\"");
	}
	builder_add_node(builder, draft, &node);
	return 0;
}

static int recorded_file(const struct json_at *at, struct builder *builder, struct draft *draft,
			 struct error *err)
{
	static const char *const keys[] = {"source",	"destination", "bits",
					   "directory", "origin",      NULL};
	struct discovery_file file = {.origin = ""};
	int64_t bits = 0;
	int rc = json_only_keys(at, keys, err);

	if (rc == 0)
		rc = recorded_path(at, "source", &file.source, err);
	if (rc == 0)
		rc = recorded_path(at, "destination", &file.destination, err);
	if (rc == 0)
		rc = json_have_int(at, "bits", 0, 64, &bits, err);
	if (rc == 0)
		rc = json_have_bool(at, "directory", &file.directory, err);
	if (rc == 0)
		rc = json_need_string(at, "origin", &file.origin, err);
	if (rc < 0)
		return rc;
	if (bits != 0 && bits != 32 && bits != 64) {
		struct json_at member = {.parent = at, .key = "bits"};

		return json_error(&member, err, "expected 64, 32 or 0");
	}
	file.bits = (unsigned)bits;
	builder_add_file(builder, draft, &file);
	return 0;
}

/* Calls `read` for every object of the array `key`. */
static int recorded_objects(const struct json_at *object, const char *key, size_t max,
			    int (*read)(const struct json_at *at, struct builder *builder,
					struct draft *draft, struct error *err),
			    struct builder *builder, struct draft *draft, struct error *err)
{
	struct json_at array = {0};
	int rc = recorded_array(object, key, max, &array, err);

	for (size_t i = 0; rc == 0 && i < json_count(&array); i++) {
		struct json_at element = {0};

		rc = json_element(&array, i, JSON_OBJECT, &element, err);
		if (rc == 0)
			rc = read(&element, builder, draft, err);
	}
	return rc;
}

static bool variable_name_is_valid(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char digits[] = "0123456789";
	size_t length = strcspn(name, "=");

	if (length == 0 || name[length] != '\0' || strchr(digits, name[0]) != NULL)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (strchr(letters, name[i]) == NULL && strchr(digits, name[i]) == NULL)
			return false;
	}
	return true;
}

static int recorded_environment(const struct json_at *device_at, struct builder *builder,
				struct draft *draft, struct error *err)
{
	const cJSON *member = NULL;
	struct json_at environment = {0};
	int rc = json_have(device_at, "environment", JSON_OBJECT, &environment, err);

	if (rc < 0 || environment.node == NULL)
		return rc;
	if (json_count(&environment) > LIST_MAX)
		return json_error(&environment, err, "more than %d members", (int)LIST_MAX);
	cJSON_ArrayForEach (member, environment.node) {
		struct json_at at = {.node = member, .parent = &environment, .key = member->string};

		if (!variable_name_is_valid(member->string))
			return json_error(&at, err, "not the name of an environment variable");
		if (!cJSON_IsString(member))
			return json_error(&at, err, "expected string");
		builder_add_variable(builder, draft, member->string, member->valuestring);
	}
	return 0;
}

static int recorded_id(const struct json_at *device_at, struct builder *builder,
		       struct discovery_device *device, struct error *err)
{
	struct json_at at = {0};
	int rc = json_need(device_at, "id", JSON_STRING, &at, err);

	if (rc < 0)
		return rc;
	const char *id = at.node->valuestring;
	if (!device_id_is_valid(id))
		return json_error(&at, err, "expected 1 to %d characters of [A-Za-z0-9._:-]",
				  (int)DEVICE_ID_MAX);
	for (size_t i = 0; i < builder->draft_count; i++) {
		if (text_equal(builder->drafts[i]->device.id, id))
			return json_error(&at, err, "another device has the id %s", id);
	}
	device->id = builder_string(builder, id);
	return 0;
}

static int recorded_health(const struct json_at *device_at, struct builder *builder,
			   struct discovery_device *device, struct error *err)
{
	static const char *const healths[] = {"healthy", "unhealthy"};
	const char *reason = NULL;
	size_t health = 0;
	int rc = recorded_choice(device_at, "health", healths, ARRAY_SIZE(healths), &health, err);

	if (rc == 0)
		rc = json_have_string(device_at, "healthReason", &reason, err);
	device->health = (enum discovery_health)health;
	device->health_reason = builder_string(builder, reason);
	return rc;
}

static int recorded_flags(const struct json_at *device_at, struct discovery_device *device,
			  struct error *err)
{
	static const char *const kinds[] = {"display", "compute", "software"};
	int64_t numa_node = DISCOVERY_UNKNOWN;
	size_t kind = 0;
	int rc = recorded_choice(device_at, "kind", kinds, ARRAY_SIZE(kinds), &kind, err);

	if (rc == 0)
		rc = json_need_bool(device_at, "integrated", &device->integrated, err);
	if (rc == 0)
		rc = json_need_bool(device_at, "detachable", &device->detachable, err);
	if (rc == 0)
		rc = json_need_bool(device_at, "display", &device->display, err);
	if (rc == 0)
		rc = json_need_bool(device_at, "compute", &device->compute, err);
	if (rc == 0)
		rc = json_have_int(device_at, "luid", -memory_max, memory_max, &device->luid, err);
	if (rc == 0)
		rc = json_have_int(device_at, "numaNode", 0, INT32_MAX, &numa_node, err);
	device->kind = (enum discovery_kind)kind;
	device->numa_node = (int32_t)numa_node;
	return rc;
}

static int recorded_device(const struct json_at *at, struct builder *builder, struct error *err)
{
	static const char *const keys[] = {"id",
					   "kind",
					   "vendor",
					   "description",
					   "pci",
					   "locationPath",
					   "luid",
					   "pnpInstanceId",
					   "driver",
					   "memory",
					   "integrated",
					   "detachable",
					   "display",
					   "compute",
					   "numaNode",
					   "health",
					   "healthReason",
					   "apis",
					   "nodes",
					   "files",
					   "environment",
					   "manufacturer",
					   "locationPaths",
					   "attributes",
					   "allocatable",
					   "notAllocatableReason",
					   NULL};
	struct draft *draft = NULL;
	struct discovery_device described = {0};
	int rc = json_only_keys(at, keys, err);

	if (rc == 0)
		rc = recorded_id(at, builder, &described, err);
	if (rc < 0)
		return rc;
	draft = builder_add(builder);
	if (draft == NULL)
		return error_memory(err);
	draft->device.id = described.id;
	rc = recorded_flags(at, &draft->device, err);
	if (rc == 0)
		rc = recorded_health(at, builder, &draft->device, err);
	if (rc == 0)
		rc = recorded_strings(at, recorded_device_strings, builder, &draft->device, err);
	if (rc == 0)
		rc = recorded_pci(at, builder, &draft->device, err);
	if (rc == 0)
		rc = recorded_driver(at, builder, &draft->device, err);
	if (rc == 0)
		rc = recorded_memory(at, &draft->device, err);
	if (rc == 0)
		rc = recorded_names(at, "apis", "the name of an API", builder_add_api, builder,
				    draft, err);
	if (rc == 0)
		rc = recorded_names(at, "locationPaths", "a location path",
				    builder_add_location_path, builder, draft, err);
	if (rc == 0)
		rc = recorded_names(at, "attributes", "the name of an attribute",
				    builder_add_attribute, builder, draft, err);
	if (rc == 0)
		rc = recorded_allocatable(at, builder, &draft->device, err);
	recorded_only_location_path(builder, draft);
	if (rc == 0)
		rc = recorded_objects(at, "nodes", LIST_MAX, recorded_node, builder, draft, err);
	if (rc == 0)
		rc = recorded_objects(at, "files", FILES_MAX, recorded_file, builder, draft, err);
	return rc < 0 ? rc : recorded_environment(at, builder, draft, err);
}

static int recorded_system(const struct json_at *root, struct builder *builder, struct error *err)
{
	static const char *const keys[] = {"os",	 "product",	"version",
					   "build",	 "kernelBuild", "architecture",
					   "enumerator", "emulator",	NULL};
	const char *os = NULL;
	struct json_at system = {0};
	int rc = json_need(root, "system", JSON_OBJECT, &system, err);

	if (rc == 0)
		rc = json_only_keys(&system, keys, err);
	if (rc == 0)
		rc = json_need_string(&system, "os", &os, err);
	return rc < 0 ? rc
		      : recorded_strings(&system, recorded_system_strings, builder,
					 &builder->system, err);
}

static int recorded_date(const struct json_at *root, struct builder *builder, struct error *err)
{
	const char *date = NULL;
	int rc = json_have_string(root, "recorded", &date, err);

	builder->recorded_at = builder_string(builder, date);
	return rc;
}

static int recorded_diagnostic(const struct json_at *at, struct builder *builder, struct error *err)
{
	static const char *const keys[] = {"place", "message", NULL};
	const char *place = NULL;
	const char *message = NULL;
	int rc = json_only_keys(at, keys, err);

	if (rc == 0)
		rc = json_need_string(at, "place", &place, err);
	if (rc == 0)
		rc = json_need_string(at, "message", &message, err);
	if (rc == 0)
		builder_diagnose(builder, place, "%s", message);
	return rc;
}

static int recorded_document(const cJSON *document, struct builder *builder, struct error *err)
{
	static const char *const keys[] = {"schema",  "recorded",    "system",
					   "devices", "diagnostics", NULL};
	struct json_at root = json_root(document);
	struct json_at schema = {0};
	struct json_at array = {0};
	int rc = json_need(&root, "schema", JSON_STRING, &schema, err);

	if (rc == 0 && !text_equal(schema.node->valuestring, RECORDED_SCHEMA))
		return json_error(&schema, err, "expected \"%s\"", RECORDED_SCHEMA);
	if (rc == 0)
		rc = json_only_keys(&root, keys, err);
	if (rc == 0)
		rc = recorded_date(&root, builder, err);
	if (rc == 0)
		rc = recorded_system(&root, builder, err);
	if (rc == 0)
		rc = json_need(&root, "devices", JSON_ARRAY, &array, err);
	if (rc == 0)
		rc = recorded_array(&root, "devices", DEVICES_MAX, &array, err);
	for (size_t i = 0; rc == 0 && i < json_count(&array); i++) {
		struct json_at device = {0};

		rc = json_element(&array, i, JSON_OBJECT, &device, err);
		if (rc == 0)
			rc = recorded_device(&device, builder, err);
	}
	if (rc == 0)
		rc = recorded_array(&root, "diagnostics", DIAGNOSTICS_MAX, &array, err);
	for (size_t i = 0; rc == 0 && i < json_count(&array); i++) {
		struct json_at diagnostic = {0};

		rc = json_element(&array, i, JSON_OBJECT, &diagnostic, err);
		if (rc == 0)
			rc = recorded_diagnostic(&diagnostic, builder, err);
	}
	return rc;
}

int recorded_parse(const char *data, size_t size, struct builder *builder, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	int rc = json_parse(data, size, &document, err);

	if (rc == 0)
		rc = recorded_document(document, builder, err);
	builder->recorded = true;
	return rc;
}

int recorded_read(const char *path, struct builder *builder, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, JSON_FILE_MAX, &data, &size, err);

	if (rc < 0)
		return rc;
	rc = recorded_parse(data, size, builder, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}
