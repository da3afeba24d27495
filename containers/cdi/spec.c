/* SPDX-License-Identifier: MIT */
#include "containers/cdi/spec.h"

#include "base/memory.h"
#include "base/yaml_json.h"
#include "containers/cdi/names.h"

#include <stdlib.h>
#include <string.h>

static const char *const versions[] = {"0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.6.0",
				       "0.7.0", "0.8.0", "1.0.0", "1.1.0", NULL};

/* Indexes in the list. Every Spec needs 0.3.0. */
enum { V0_3 = 2, V0_4, V0_5, V0_6, V0_7, V0_8, V1_0, V1_1 };

struct walk {
	struct cdi_spec *spec;
	size_t needed;
	struct error why_needed; /* names the field that needs this version */
	struct error *err;
};

enum shape { STRING, INTEGER, BOOLEAN, OBJECT, MAP };

/* A member of an object. `check` is called for each element of a list. */
struct field {
	const char *key;
	enum shape shape;
	bool list, required;
	size_t since; /* index in `versions` */
	int64_t min, max;
	const char *const *values; /* STRING: one of them */
	const struct field *members;
	int (*check)(struct walk *walk, const struct json_at *at);
};

PRINTF_LIKE(4, 5)
static int wrong(struct walk *walk, const struct json_at *at, enum cdi_defect defect,
		 const char *format, ...)
{
	char what[ERROR_TEXT_SIZE];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	walk->spec->defect = defect;
	return json_error(at, walk->err, "%s", what);
}

static void need_version(struct walk *walk, const struct json_at *at, size_t version)
{
	if (version <= walk->needed)
		return;
	walk->needed = version;
	(void)json_error(at, &walk->why_needed, "needs cdiVersion %s", versions[version]);
}

static int check_kind(struct walk *walk, const struct json_at *at)
{
	const char *kind = at->node->valuestring;
	const char *slash = strchr(kind, '/');
	if (slash == NULL || !cdi_is_kind_part(kind, (size_t)(slash - kind)) ||
	    !cdi_is_kind_part(slash + 1, strlen(slash + 1)))
		return wrong(walk, at, CDI_WRONG_NAME,
			     "'%s' is not vendor/class; both begin with a letter, continue with "
			     "letters, digits, '_', '-' and '.', and end with a letter or digit",
			     kind);
	if (strchr(slash, '.') != NULL)
		need_version(walk, at, V0_6);
	return 0;
}

static int check_device_name(struct walk *walk, const struct json_at *at)
{
	const char *name = at->node->valuestring;
	if (!cdi_is_device_name(name))
		return wrong(walk, at, CDI_WRONG_NAME,
			     "'%s' is not the name of a device: letters, digits, '_', '-', '.' "
			     "and ':', with a letter or digit at both ends",
			     name);
	if (name[0] >= '0' && name[0] <= '9')
		need_version(walk, at, V0_5);
	return 0;
}

static int check_annotation(struct walk *walk, const struct json_at *at)
{
	if (!cJSON_IsString(at->node) && at->node->valuestring == NULL)
		return wrong(walk, at, CDI_WRONG_TYPE, "expected string");
	if (!cdi_is_annotation_key(at->key))
		return wrong(walk, at, CDI_WRONG_NAME, "not the key of an annotation");
	return 0;
}

static int check_variable(struct walk *walk, const struct json_at *at)
{
	const char *variable = at->node->valuestring;
	const char *equals = strchr(variable, '=');
	if (equals == NULL || equals == variable)
		return wrong(walk, at, CDI_WRONG_VALUE, "'%s' is not NAME=VALUE", variable);
	return 0;
}

static int check_permissions(struct walk *walk, const struct json_at *at)
{
	const char *letters = at->node->valuestring;
	if (strcmp(letters, "none") != 0 && strspn(letters, "rwm") != strlen(letters))
		return wrong(walk, at, CDI_WRONG_VALUE, "'%s' is neither of r, w and m nor 'none'",
			     letters);
	return 0;
}

static int check_class_of_service(struct walk *walk, const struct json_at *at)
{
	const char *id = at->node->valuestring;
	bool file = strlen(id) < 4096 && strcmp(id, ".") != 0 && strcmp(id, "..") != 0 &&
		    strpbrk(id, "/\n") == NULL;
	if (!file && strcmp(id, "/") != 0)
		return wrong(walk, at, CDI_WRONG_VALUE, "not the name of a class of service");
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* No two objects of the list may have the same string there. */
static int check_unique(struct walk *walk, const struct json_at *parent, const char *list,
			const char *key, enum cdi_defect defect)
{
	struct json_at at = {.parent = parent,
			     .key = list,
			     .node = cJSON_GetObjectItemCaseSensitive(parent->node, list)};
	const char **names CLEANUP_FREE = memory_allocate(json_count(&at) + 1, sizeof(*names));
	size_t count = 0;
	json_each (element, at.node)
		names[count++] = cJSON_GetObjectItemCaseSensitive(element, key)->valuestring;
	qsort(names, count, sizeof(*names), by_text);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(names[i - 1], names[i]) == 0)
			return wrong(walk, &at, defect, "two have the %s '%s'", key, names[i]);
	}
	return 0;
}

static int check_edits(struct walk *walk, const struct json_at *at)
{
	int rc = check_unique(walk, at, "netDevices", "hostInterfaceName", CDI_WRONG_VALUE);
	return rc < 0 ? rc : check_unique(walk, at, "netDevices", "name", CDI_WRONG_VALUE);
}

static const char *const node_types[] = {"b", "c", "u", "p", NULL};
static const char *const hook_names[] = {
	"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop",
	NULL};

/* Numbers that a double holds exactly. */
#define NUMBER_MAX (1LL << 53)

static const struct field node_fields[] = {
	{"path", STRING, .required = true},
	{"hostPath", STRING, .since = V0_5},
	{"type", STRING, .values = node_types},
	{"major", INTEGER, .max = NUMBER_MAX},
	{"minor", INTEGER, .max = NUMBER_MAX},
	{"fileMode", INTEGER, .max = UINT32_MAX},
	{"permissions", STRING, .check = check_permissions},
	{"uid", INTEGER, .max = UINT32_MAX},
	{"gid", INTEGER, .max = UINT32_MAX},
	{.key = NULL},
};

static const struct field net_fields[] = {
	{"hostInterfaceName", STRING, .required = true},
	{"name", STRING, .required = true},
	{.key = NULL},
};

static const struct field mount_fields[] = {
	{"hostPath", STRING, .required = true},
	{"containerPath", STRING, .required = true},
	{"options", STRING, .list = true},
	{"type", STRING, .since = V0_4},
	{.key = NULL},
};

static const struct field hook_fields[] = {
	{"hookName", STRING, .required = true, .values = hook_names},
	{"path", STRING, .required = true},
	{"args", STRING, .list = true},
	{"env", STRING, .list = true, .check = check_variable},
	{"timeout", INTEGER, .min = -NUMBER_MAX, .max = NUMBER_MAX},
	{.key = NULL},
};

static const struct field rdt_fields[] = {
	{"closID", STRING, .check = check_class_of_service},
	{"l3CacheSchema", .shape = STRING},
	{"memBwSchema", .shape = STRING},
	{"schemata", STRING, .list = true, .since = V1_1},
	{"enableMonitoring", BOOLEAN, .since = V1_1},
	{.key = NULL},
};

static const struct field edit_fields[] = {
	{"env", STRING, .list = true, .check = check_variable},
	{"deviceNodes", OBJECT, .list = true, .members = node_fields},
	{"netDevices", OBJECT, .list = true, .since = V1_1, .members = net_fields},
	{"hooks", OBJECT, .list = true, .members = hook_fields},
	{"mounts", OBJECT, .list = true, .members = mount_fields},
	{"intelRdt", OBJECT, .since = V0_7, .members = rdt_fields},
	{"additionalGids", INTEGER, .list = true, .since = V0_7, .max = UINT32_MAX},
	{.key = NULL},
};

static const struct field device_fields[] = {
	{"name", STRING, .required = true, .check = check_device_name},
	{"annotations", MAP, .since = V0_6, .check = check_annotation},
	{"containerEdits", OBJECT, .members = edit_fields, .check = check_edits},
	{.key = NULL},
};

/* A device without edits, or with only empty ones, is refused. */
static int check_device(struct walk *walk, const struct json_at *at)
{
	const cJSON *edits = cJSON_GetObjectItemCaseSensitive(at->node, "containerEdits");
	json_each (edit, edits) {
		if (cJSON_IsObject(edit) || edit->child != NULL)
			return 0;
	}
	return wrong(walk, at, CDI_NO_EDITS, "the device has no containerEdits");
}

static const struct field spec_fields[] = {
	{"cdiVersion", STRING, .required = true, .since = V0_3},
	{"kind", STRING, .required = true, .check = check_kind},
	{"annotations", MAP, .since = V0_6, .check = check_annotation},
	{"devices", OBJECT, .list = true, .required = true, .members = device_fields,
	 .check = check_device},
	{"containerEdits", OBJECT, .members = edit_fields, .check = check_edits},
	{.key = NULL},
};

/* Empty fields count as absent. */
static bool is_set(const struct field *field, const cJSON *value)
{
	if (value == NULL || cJSON_IsNull(value))
		return false;
	if (field->list || field->shape == MAP)
		return value->child != NULL || (!cJSON_IsArray(value) && !cJSON_IsObject(value));
	if (field->shape == STRING)
		return value->valuestring == NULL || value->valuestring[0] != '\0';
	return !cJSON_IsFalse(value);
}

static int check_members(struct walk *walk, const struct field *fields,
			 const struct json_at *object);

static int check_map(struct walk *walk, const struct field *field, const struct json_at *at)
{
	size_t count = 0;
	json_each (child, at->node) {
		struct json_at entry = {.node = child, .parent = at, .key = child->string};
		int rc = field->check(walk, &entry);
		if (rc == 0 && ++count > CDI_LIST_MAX)
			rc = wrong(walk, at, CDI_TOO_LARGE, "more than %d members", CDI_LIST_MAX);
		if (rc == 0 && cJSON_GetObjectItemCaseSensitive(at->node, child->string) != child)
			rc = wrong(walk, at, CDI_FIELD_TWICE, "'%s' is given twice", child->string);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The value of a field that is set, or an element of its list. */
static int check_value(struct walk *walk, const struct field *field, const struct json_at *at)
{
	const char *string = at->node->valuestring;
	double number = at->node->valuedouble;
	int rc = 0;
	switch (field->shape) {
	case STRING:
		if (string == NULL)
			return wrong(walk, at, CDI_WRONG_TYPE, "expected string");
		if (field->values != NULL &&
		    field->values[text_position(field->values, string)] == NULL)
			return wrong(walk, at, CDI_WRONG_VALUE, "'%s' is not one of the values",
				     string);
		break;
	case INTEGER:
		if (!cJSON_IsNumber(at->node))
			return wrong(walk, at, CDI_WRONG_TYPE, "expected integer");
		if (!(number >= (double)field->min && number <= (double)field->max))
			return wrong(walk, at, CDI_WRONG_VALUE, "%.17g is outside %lld to %lld",
				     number, (long long)field->min, (long long)field->max);
		if ((double)(int64_t)number != number)
			return wrong(walk, at, CDI_WRONG_TYPE, "expected integer");
		break;
	case BOOLEAN:
		if (!cJSON_IsBool(at->node))
			return wrong(walk, at, CDI_WRONG_TYPE, "expected boolean");
		return 0;
	case OBJECT:
	case MAP:
		if (!cJSON_IsObject(at->node))
			return wrong(walk, at, CDI_WRONG_TYPE, "expected object");
		if (field->shape == MAP)
			return check_map(walk, field, at);
		rc = check_members(walk, field->members, at);
		break;
	}
	if (rc < 0 || field->check == NULL)
		return rc;
	return field->check(walk, at);
}

static int check_list(struct walk *walk, const struct field *field, const struct json_at *at)
{
	struct json_at element = {.parent = at};
	int rc = 0;
	if (!cJSON_IsArray(at->node))
		return wrong(walk, at, CDI_WRONG_TYPE, "expected array");
	for (element.node = at->node->child; rc == 0 && element.node != NULL;
	     element.node = element.node->next) {
		rc = check_value(walk, field, &element);
		if (++element.index > CDI_LIST_MAX && rc == 0)
			rc = wrong(walk, at, CDI_TOO_LARGE, "more than %d elements", CDI_LIST_MAX);
	}
	return rc;
}

static int check_members(struct walk *walk, const struct field *fields,
			 const struct json_at *object)
{
	/* Every key is a known field's, and occurs once. */
	unsigned seen = 0;
	json_each (child, object->node) {
		struct json_at at = {.node = child, .parent = object, .key = child->string};
		size_t index = 0;
		while (fields[index].key != NULL && strcmp(fields[index].key, child->string) != 0)
			index++;
		if (fields[index].key == NULL)
			return wrong(walk, &at, CDI_UNKNOWN_FIELD, "CDI has no such field here");
		if ((seen >> index & 1) != 0)
			return wrong(walk, &at, CDI_FIELD_TWICE, "given twice");
		seen |= 1U << index;
	}

	for (const struct field *field = fields; field->key != NULL; field++) {
		struct json_at at = {
			.node = cJSON_GetObjectItemCaseSensitive(object->node, field->key),
			.parent = object,
			.key = field->key};
		if (!is_set(field, at.node) && field->required)
			return wrong(walk, &at, CDI_MISSING_FIELD, "missing or empty");
		if (!is_set(field, at.node))
			continue;
		need_version(walk, &at, field->since);
		int rc = field->list ? check_list(walk, field, &at) : check_value(walk, field, &at);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int cdi_spec_check(const cJSON *document, struct cdi_spec *out, struct error *err)
{
	struct error ignored = {0};
	struct walk walk = {.spec = out, .err = err != NULL ? err : &ignored};
	struct json_at root = json_root(document);
	if (!cJSON_IsObject(document))
		return wrong(&walk, &root, CDI_WRONG_TYPE, "a Spec is an object");
	int rc = check_members(&walk, spec_fields, &root);
	if (rc == 0)
		rc = check_unique(&walk, &root, "devices", "name", CDI_DEVICE_TWICE);
	if (rc < 0)
		return rc;

	struct json_at at = {.node = cJSON_GetObjectItemCaseSensitive(document, "cdiVersion"),
			     .parent = &root,
			     .key = "cdiVersion"};
	size_t declared = text_position(versions, at.node->valuestring);
	if (versions[declared] == NULL)
		return wrong(&walk, &at, CDI_UNKNOWN_VERSION, "'%s' is not a version of CDI",
			     at.node->valuestring);
	out->version = versions[declared];
	out->needed = versions[walk.needed];
	if (declared < walk.needed) {
		out->defect = CDI_VERSION_TOO_LOW;
		return error_set(err, ERROR_FORMAT, "%s, and the file declares %s",
				 walk.why_needed.text, versions[declared]);
	}

	out->kind = memory_copy(json_pointer_string(document, "/kind"));
	json_each (device, json_pointer(document, "/devices"))
		(void)text_list_addf(&out->devices, err, "%s=%s", out->kind,
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
