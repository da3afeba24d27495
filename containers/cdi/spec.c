/* SPDX-License-Identifier: MIT */
#include "containers/cdi/spec.h"

#include "base/json_members.h"
#include "base/memory.h"
#include "base/text_index.h"
#include "base/yaml_json.h"
#include "containers/cdi/names.h"

#include <stdlib.h>
#include <string.h>

static const char *const versions[] = {"0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.6.0",
				       "0.7.0", "0.8.0", "1.0.0", "1.1.0", NULL};

/* Indexes in the list. Every Spec needs 0.3.0. */
enum { V0_3 = 2, V0_4, V0_5, V0_6, V0_7, V0_8, V1_0, V1_1 };

/* A row's tag: the first version with the field, and the defect when its check refuses it. */
#define TAG(since, defect) .tag = (since) << 8 | (defect)
#define SINCE(since)	   TAG(since, CDI_WRONG_VALUE)
#define LIST		   .type = JSON_MEMBER_STRINGS, .max = CDI_LIST_MAX

static int check_kind(const struct json_at *at, struct error *err)
{
	const char *kind = at->node->valuestring;
	const char *slash = strchr(kind, '/');
	if (slash == NULL || !cdi_is_kind_part(kind, (size_t)(slash - kind)) ||
	    !cdi_is_kind_part(slash + 1, strlen(slash + 1)))
		return json_error(
			at, err,
			"'%s' is not vendor/class; both begin with a letter, continue with "
			"letters, digits, '_', '-' and '.', and end with a letter or digit",
			kind);
	return 0;
}

static int check_device_name(const struct json_at *at, struct error *err)
{
	const char *name = at->node->valuestring;
	if (!cdi_is_device_name(name))
		return json_error(
			at, err,
			"'%s' is not the name of a device: letters, digits, '_', '-', '.' "
			"and ':', with a letter or digit at both ends",
			name);
	return 0;
}

static int check_annotation(const struct json_at *at, struct error *err)
{
	if (!cdi_is_annotation_key(at->key))
		return json_error(at, err, "not the key of an annotation");
	return 0;
}

static int check_variable(const struct json_at *at, struct error *err)
{
	const char *variable = at->node->valuestring;
	const char *equals = strchr(variable, '=');
	if (equals == NULL || equals == variable)
		return json_error(at, err, "'%s' is not NAME=VALUE", variable);
	return 0;
}

static int check_permissions(const struct json_at *at, struct error *err)
{
	const char *letters = at->node->valuestring;
	if (strcmp(letters, "none") != 0 && strspn(letters, "rwm") != strlen(letters))
		return json_error(at, err, "'%s' is neither of r, w and m nor 'none'", letters);
	return 0;
}

static int check_class_of_service(const struct json_at *at, struct error *err)
{
	const char *id = at->node->valuestring;
	bool file = strlen(id) < 4096 && strcmp(id, ".") != 0 && strcmp(id, "..") != 0 &&
		    strpbrk(id, "/\n") == NULL;
	if (!file && strcmp(id, "/") != 0)
		return json_error(at, err, "not the name of a class of service");
	return 0;
}

/* The id of an additional group. */
static int check_id(const struct json_at *at, struct error *err)
{
	double id = at->node->valuedouble;
	return id >= 0 && id <= UINT32_MAX ? 0 : json_error(at, err, "%.17g is not an id", id);
}

/* This member must differ between the objects of the list. */
static int check_unique(const struct json_at *parent, const char *list, const char *key,
			struct error *err)
{
	struct text_index known CLEANUP_TEXT_INDEX = {0};
	struct json_at at = {.parent = parent,
			     .key = list,
			     .node = cJSON_GetObjectItemCaseSensitive(parent->node, list)};
	size_t number = 0;
	json_each (element, at.node) {
		const char *name = cJSON_GetObjectItemCaseSensitive(element, key)->valuestring;
		if (text_index_put(&known, name, number) != number)
			return json_error(&at, err, "two have the %s '%s'", key, name);
		number++;
	}
	return 0;
}

static int check_edits(const struct json_at *at, struct error *err)
{
	int rc = check_unique(at, "netDevices", "hostInterfaceName", err);
	return rc < 0 ? rc : check_unique(at, "netDevices", "name", err);
}

static const char *const node_types[] = {"", "b", "c", "u", "p", NULL};
static const char *const hook_names[] = {
	"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop",
	NULL};

/* Numbers that a double holds exactly. */
#define NUMBER_MAX (1LL << 53)

#define NUMBER(key_, min_, max_)                                                                   \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_INT, .min = (min_), .max = (max_)               \
	}
#define OBJECTS(key_, members_)                                                                    \
	.key = (key_), .type = JSON_MEMBER_OBJECTS, .max = CDI_LIST_MAX, .members = (members_)
#define OBJECT(key_, members_) .key = (key_), .type = JSON_MEMBER_OBJECT, .members = (members_)
#define ANNOTATIONS                                                                                \
	{                                                                                          \
		.key = "annotations", .type = JSON_MEMBER_MAP, .max = CDI_LIST_MAX,                \
		.check = check_annotation, TAG(V0_6, CDI_WRONG_NAME)                               \
	}

static const struct json_member node_fields[] = {
	{"path", .presence = JSON_FILLED},
	{"hostPath", SINCE(V0_5)},
	{"type", .type = JSON_MEMBER_CHOICE, .names = node_types},
	NUMBER("major", 0, NUMBER_MAX),
	NUMBER("minor", 0, NUMBER_MAX),
	NUMBER("fileMode", 0, UINT32_MAX),
	{"permissions", .check = check_permissions, SINCE(0)},
	NUMBER("uid", 0, UINT32_MAX),
	NUMBER("gid", 0, UINT32_MAX),
	{0},
};

static const struct json_member net_fields[] = {
	{"hostInterfaceName", .presence = JSON_FILLED},
	{"name", .presence = JSON_FILLED},
	{0},
};

static const struct json_member mount_fields[] = {
	{"hostPath", .presence = JSON_FILLED},
	{"containerPath", .presence = JSON_FILLED},
	{"options", LIST},
	{"type", SINCE(V0_4)},
	{0},
};

static const struct json_member hook_fields[] = {
	{"hookName", JSON_MEMBER_CHOICE, JSON_FILLED, .names = hook_names},
	{"path", .presence = JSON_FILLED},
	{"args", LIST},
	{"env", LIST, .check = check_variable, SINCE(0)},
	NUMBER("timeout", -NUMBER_MAX, NUMBER_MAX),
	{0},
};

static const struct json_member rdt_fields[] = {
	{"closID", .check = check_class_of_service, SINCE(0)},
	{.key = "l3CacheSchema"},
	{.key = "memBwSchema"},
	{"schemata", LIST, SINCE(V1_1)},
	{"enableMonitoring", .type = JSON_MEMBER_BOOL, SINCE(V1_1)},
	{0},
};

static const struct json_member edit_fields[] = {
	{"env", LIST, .check = check_variable, SINCE(0)},
	{OBJECTS("deviceNodes", node_fields)},
	{OBJECTS("netDevices", net_fields), SINCE(V1_1)},
	{OBJECTS("hooks", hook_fields)},
	{OBJECTS("mounts", mount_fields)},
	{OBJECT("intelRdt", rdt_fields), SINCE(V0_7)},
	{"additionalGids", .type = JSON_MEMBER_INTS, .max = CDI_LIST_MAX, .check = check_id,
	 SINCE(V0_7)},
	{0},
};

static const struct json_member device_fields[] = {
	{"name", .presence = JSON_FILLED, .check = check_device_name, TAG(0, CDI_WRONG_NAME)},
	ANNOTATIONS,
	{OBJECT("containerEdits", edit_fields), .check = check_edits, SINCE(0)},
	{0},
};

static const struct json_member spec_fields[] = {
	{"cdiVersion", .presence = JSON_FILLED, SINCE(V0_3)},
	{"kind", .presence = JSON_FILLED, .check = check_kind, TAG(0, CDI_WRONG_NAME)},
	ANNOTATIONS,
	{OBJECTS("devices", device_fields), .presence = JSON_FILLED},
	{OBJECT("containerEdits", edit_fields), .check = check_edits, SINCE(0)},
	{0},
};

struct needed {
	int version;
	struct error why; /* names the field that needs it */
};

/* Empty fields count as absent, except objects. */
static void need_version(const struct json_at *at, const struct json_member *field, void *user)
{
	struct needed *needed = user;
	const cJSON *value = at->node;
	const char *string = json_is_string(value) ? value->valuestring : "";
	int since = field->tag >> 8;
	if (field->type != JSON_MEMBER_OBJECT && value->child == NULL && string[0] == '\0' &&
	    !cJSON_IsNumber(value) && !cJSON_IsTrue(value))
		return;
	if (field->check == check_kind && strchr(strchr(string, '/'), '.') != NULL)
		since = V0_6;
	if (field->check == check_device_name && string[0] >= '0' && string[0] <= '9')
		since = V0_5;
	if (since <= needed->version)
		return;
	needed->version = since;
	(void)json_error(at, &needed->why, "needs cdiVersion %s", versions[since]);
}

int cdi_spec_check(const cJSON *document, struct cdi_spec *out, struct error *err)
{
	static const enum cdi_defect defects[] = {
		[JSON_SOUND] = CDI_NO_DEFECT,	    [JSON_MISSING] = CDI_MISSING_FIELD,
		[JSON_WRONG_TYPE] = CDI_WRONG_TYPE, [JSON_WRONG_VALUE] = CDI_WRONG_VALUE,
		[JSON_TOO_MANY] = CDI_TOO_LARGE,    [JSON_UNKNOWN] = CDI_UNKNOWN_FIELD,
		[JSON_TWICE] = CDI_FIELD_TWICE,
	};
	struct needed needed = {0};
	struct json_checking checking = {.seen = need_version, .user = &needed};
	struct json_at root = json_root(document);
	int rc = json_members_check(&root, spec_fields, &checking, err);
	out->defect = checking.defect == JSON_REFUSED
			      ? (enum cdi_defect)(checking.refused->tag & 0xff)
			      : defects[checking.defect];
	if (rc < 0)
		return rc;
	out->defect = CDI_DEVICE_TWICE;
	rc = check_unique(&root, "devices", "name", err);
	if (rc < 0)
		return rc;

	/* A device without edits, or with only empty ones, is refused. */
	struct json_at devices = {0};
	out->defect = CDI_NO_EDITS;
	(void)json_have(&root, "devices", JSON_ARRAY, &devices, NULL);
	struct json_at at = {.parent = &devices};
	cJSON_ArrayForEach (at.node, devices.node) {
		const cJSON *edit =
			json_first(cJSON_GetObjectItemCaseSensitive(at.node, "containerEdits"));
		while (edit != NULL && !cJSON_IsObject(edit) && edit->child == NULL)
			edit = edit->next;
		if (edit == NULL)
			return json_error(&at, err, "the device has no containerEdits");
		at.index++;
	}

	const char *version = json_pointer_string(document, "/cdiVersion");
	int declared = (int)text_position(versions, version);
	at = (struct json_at){.parent = &root, .key = "cdiVersion"};
	out->defect = CDI_UNKNOWN_VERSION;
	if (versions[declared] == NULL)
		return json_error(&at, err, "'%s' is not a version of CDI", version);
	out->version = versions[declared];
	out->needed = versions[needed.version];
	out->defect = CDI_VERSION_TOO_LOW;
	if (declared < needed.version)
		return error_set(err, ERROR_FORMAT, "%s, and the file declares %s", needed.why.text,
				 out->version);

	out->defect = CDI_NO_DEFECT;
	out->kind = memory_copy(json_pointer_string(document, "/kind"));
	json_each (device, devices.node)
		text_list_addf(&out->devices, "%s=%s", out->kind,
			       json_pointer_string(device, "/name"));
	return 0;
}

int cdi_spec_parse(const char *path, const char *data, size_t size, struct cdi_spec *out,
		   struct error *err)
{
	int rc = 0;
	if (size > CDI_FILE_MAX)
		rc = error_set(err, ERROR_LIMIT, "more than %d bytes", CDI_FILE_MAX);
	else if (text_ends_with(path, ".json"))
		rc = json_parse(data, size, &out->document, err);
	else
		rc = yaml_to_json(data, size, &out->document, err);
	if (rc == ERROR_FORMAT)
		out->defect = CDI_SYNTAX;
	else if (rc == ERROR_LIMIT)
		out->defect = CDI_TOO_LARGE;
	if (rc < 0)
		return rc;
	return cdi_spec_check(out->document, out, err);
}

void cdi_spec_free(struct cdi_spec *spec)
{
	free(spec->kind);
	text_list_free(&spec->devices);
	cJSON_Delete(spec->document);
	*spec = (struct cdi_spec){0};
}

const char *cdi_defect_name(enum cdi_defect defect)
{
	static const char *const names[CDI_DEFECTS] = {
		[CDI_NO_DEFECT] = "ok",
		[CDI_UNREADABLE] = "unreadable",
		[CDI_SYNTAX] = "syntax",
		[CDI_TOO_LARGE] = "too-large",
		[CDI_UNKNOWN_FIELD] = "unknown-field",
		[CDI_FIELD_TWICE] = "field-twice",
		[CDI_MISSING_FIELD] = "missing-field",
		[CDI_WRONG_TYPE] = "wrong-type",
		[CDI_WRONG_VALUE] = "wrong-value",
		[CDI_WRONG_NAME] = "wrong-name",
		[CDI_UNKNOWN_VERSION] = "unknown-version",
		[CDI_VERSION_TOO_LOW] = "version-too-low",
		[CDI_NO_EDITS] = "no-edits",
		[CDI_DEVICE_TWICE] = "device-twice",
	};
	return names[defect];
}
