/* SPDX-License-Identifier: MIT */
#include "containers/judging/selection/compatibility.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/version.h"
#include "base/yaml_json.h"
#include "containers/judging/selection/regexp.h"

#include <ctype.h>
#include <limits.h>

/* The answer to one or several expressions; `why` explains any but FEATURE_YES. */
struct match {
	enum feature_answer answer;
	const char *why;
};

struct walk {
	struct features *features;
	struct arena *arena;
	size_t steps;
	const char *set;      /* of the current term */
	size_t instance;      /* the current instance of it */
	struct text *reasons; /* why each set does not match */
};

enum { REASONS_MAX = 2000 };

static const struct match yes = {FEATURE_YES, ""};

static void also(struct match *all, struct match one)
{
	if (one.answer < all->answer)
		*all = one;
}

static void instead(struct match *any, struct match one)
{
	if (one.answer > any->answer)
		*any = one;
}

enum bound { UNBOUNDED, EXCLUSIVE, INCLUSIVE };

/* Ranges go from the first value to the last. */
static const struct operation {
	const char *name;
	int least, most; /* values */
	enum bound lower, upper;
	const char *equal; /* the value that is required */
} operations[] = {
	{"Exists", 0, 0, UNBOUNDED, UNBOUNDED, NULL},
	{"DoesNotExist", 0, 0, UNBOUNDED, UNBOUNDED, NULL},
	{"In", 1, INT_MAX, UNBOUNDED, UNBOUNDED, NULL},
	{"NotIn", 1, INT_MAX, UNBOUNDED, UNBOUNDED, NULL},
	{"InRegexp", 1, INT_MAX, UNBOUNDED, UNBOUNDED, NULL},
	{"IsTrue", 0, 0, UNBOUNDED, UNBOUNDED, "true"},
	{"IsFalse", 0, 0, UNBOUNDED, UNBOUNDED, "false"},
	{"Gt", 1, 1, EXCLUSIVE, UNBOUNDED, NULL},
	{"Ge", 1, 1, INCLUSIVE, UNBOUNDED, NULL},
	{"Lt", 1, 1, UNBOUNDED, EXCLUSIVE, NULL},
	{"Le", 1, 1, UNBOUNDED, INCLUSIVE, NULL},
	{"GtLt", 2, 2, EXCLUSIVE, EXCLUSIVE, NULL},
	{"GeLe", 2, 2, INCLUSIVE, INCLUSIVE, NULL},
};
enum { EXISTS, DOES_NOT_EXIST, IN, NOT_IN, IN_REGEXP };

struct expression {
	const struct operation *operation;
	struct json_at values;
	bool version; /* an order of versions, not of integers */
};

static bool has_order(const struct operation *operation)
{
	return operation->lower != UNBOUNDED || operation->upper != UNBOUNDED;
}

static bool is_number(const struct expression *expression, const char *text)
{
	long long number = 0;
	return expression->version
		       ? version_is_valid(text)
		       : text_to_int64(text, "", LLONG_MIN, LLONG_MAX, &number, NULL) == 0;
}

static int compare(const struct expression *expression, const char *a, const char *b)
{
	long long one = 0;
	long long other = 0;
	if (expression->version)
		return version_compare(a, b);
	(void)text_to_int64(a, "", LLONG_MIN, LLONG_MAX, &one, NULL);
	(void)text_to_int64(b, "", LLONG_MIN, LLONG_MAX, &other, NULL);
	return (one > other) - (one < other);
}

static int count_steps(struct walk *walk, size_t steps, struct error *err)
{
	walk->steps += steps;
	return walk->steps > COMPATIBILITY_STEPS_MAX
		       ? error_set(err, ERROR_LIMIT, "more than %d comparisons",
				   (int)COMPATIBILITY_STEPS_MAX)
		       : 0;
}

static int read_expression(struct walk *walk, const struct json_at *at, struct expression *out,
			   struct error *err)
{
	const char *name = NULL;
	const char *type = NULL;
	size_t i = 0;
	int rc = json_need_string(at, "op", &name, err);
	if (rc == 0)
		rc = json_have_string(at, "type", &type, err);
	if (rc == 0)
		rc = json_have(at, "value", JSON_ARRAY, &out->values, err);
	if (rc < 0)
		return rc;
	while (i < ARRAY_SIZE(operations) && !text_equal(operations[i].name, name))
		i++;
	if (i == ARRAY_SIZE(operations))
		return json_error(at, err, "'%.40s' is not an operator", name);
	out->operation = &operations[i];
	out->version = text_equal(type, "version");
	if (type != NULL && type[0] != '\0' && (!out->version || !has_order(out->operation)))
		return json_error(at, err, "'%.40s' is not a type of %s", type, name);
	rc = count_steps(walk, 1 + json_count(&out->values) * (i == IN_REGEXP ? 100 : 1), err);
	if (rc < 0)
		return rc;

	const struct operation *operation = out->operation;
	const cJSON *list = out->values.node;
	struct json_at element = {.parent = &out->values};
	int count = cJSON_GetArraySize(list);
	if (count < operation->least || count > operation->most)
		return json_error(&out->values, err, "%d values, which %s does not take", count,
				  operation->name);
	cJSON_ArrayForEach (element.node, list) {
		if (!cJSON_IsString(element.node))
			return json_error(&element, err, "expected a string (quotes, perhaps)");
		if (has_order(operation) && !is_number(out, element.node->valuestring))
			return json_error(&element, err, "expected %s",
					  out->version ? "a version" : "an integer");
		element.index++;
	}
	if (count == 2 && has_order(operation) &&
	    compare(out, list->child->valuestring, list->child->next->valuestring) >= 0)
		return json_error(&out->values, err, "the first is not less than the second");
	return 0;
}

static bool within(int order, enum bound bound)
{
	return bound == UNBOUNDED || order > 0 || (bound == INCLUSIVE && order == 0);
}

/* Does the host's value match? *out is unchanged when it cannot be compared. */
static int compare_value(const struct expression *expression, const char *value,
			 enum feature_answer *out, struct error *err)
{
	const struct operation *operation = expression->operation;
	const cJSON *list = expression->values.node;
	bool found = operation->equal != NULL && text_equal(value, operation->equal);
	if (has_order(operation)) {
		if (!is_number(expression, value))
			return 0;
		const char *first = list->child->valuestring;
		const char *last = list->child->prev->valuestring;
		found = within(compare(expression, value, first), operation->lower) &&
			within(compare(expression, last, value), operation->upper);
	}
	json_each (item, list) {
		int rc = 0;
		if (operation == &operations[IN_REGEXP] && !found)
			rc = regexp_search(item->valuestring, value, &found, err);
		else if (!has_order(operation))
			found = found || text_equal(item->valuestring, value);
		if (rc < 0)
			return rc;
	}
	*out = found != (operation == &operations[NOT_IN]) ? FEATURE_YES : FEATURE_NO;
	return 0;
}

static const char *node_text(struct walk *walk, const struct json_at *at)
{
	char *text CLEANUP_FREE = json_print_compact(at->node);
	return text != NULL ? arena_format(walk->arena, "%.200s", text) : "";
}

/* One expression of matchExpressions. */
static int judge_element(struct walk *walk, const struct json_at *at, struct match *out,
			 struct error *err)
{
	struct expression expression = {0};
	const char *value = NULL;
	int rc = read_expression(walk, at, &expression, err);
	if (rc < 0)
		return rc;
	enum feature_answer there =
		features_find(walk->features, walk->set, walk->instance, at->key, &value);
	enum feature_answer answer = there;
	if (expression.operation == &operations[DOES_NOT_EXIST])
		answer = FEATURE_YES - there;
	else if (expression.operation != &operations[EXISTS] && there == FEATURE_YES) {
		answer = value != NULL ? FEATURE_UNKNOWN : FEATURE_NO;
		rc = value != NULL ? compare_value(&expression, value, &answer, err) : 0;
	}
	*out = yes;
	if (rc < 0 || answer == FEATURE_YES)
		return rc;
	out->answer = answer;
	out->why = arena_format(walk->arena, "%.100s %.100s %s, and the host %s%.100s", walk->set,
				at->key, node_text(walk, at),
				there == FEATURE_UNKNOWN ? "does not report it"
				: there == FEATURE_NO	 ? "does not have it"
				: value != NULL		 ? "has "
							 : "has it",
				value != NULL ? value : "");
	return 0;
}

/* Combines the answers to the elements of an array or object; *out is unchanged when it is empty. */
static int judge_each(struct walk *walk, const struct json_at *list,
		      int (*judge)(struct walk *walk, const struct json_at *at, struct match *out,
				   struct error *err),
		      void (*together)(struct match *all, struct match one), struct match *out,
		      struct error *err)
{
	struct json_at at = {.parent = list};
	int rc = 0;
	json_each (item, list->node) {
		struct match one = yes;
		at.node = item;
		at.key = cJSON_IsObject(list->node) ? item->string : NULL;
		if (rc == 0 && !cJSON_IsObject(item))
			rc = json_error(&at, err, "expected object");
		if (rc == 0)
			rc = judge(walk, &at, &one, err);
		if (rc < 0)
			return rc;
		together(out, one);
		at.index++;
	}
	return 0;
}

/* The answer when nothing in a set matches. */
static struct match nothing(struct walk *walk, const struct json_at *at)
{
	bool all = features_are_all(walk->features, walk->set);
	return (struct match){
		all ? FEATURE_NO : FEATURE_UNKNOWN,
		arena_format(walk->arena, "%.100s %s, and %s", walk->set, node_text(walk, at),
			     all ? "nothing of the host's fits" : "the host does not report it")};
}

/* Does any name in the set match? */
static int judge_names(struct walk *walk, const struct json_at *at, struct match *out,
		       struct error *err)
{
	const struct features *features = walk->features;
	struct expression expression = {0};
	int rc = read_expression(walk, at, &expression, err);
	if (rc < 0)
		return rc;
	bool never = expression.operation == &operations[DOES_NOT_EXIST];
	struct match any = nothing(walk, at);
	for (size_t i = 0; rc == 0 && !never && i < features->count; i++) {
		struct match one = {FEATURE_YES, any.why};
		if (!text_equal(features->items[i].set, walk->set))
			continue;
		if (has_order(expression.operation))
			one.answer = FEATURE_UNKNOWN; /* until the name is a number */
		if (expression.operation != &operations[EXISTS])
			rc = compare_value(&expression, features->items[i].name, &one.answer, err);
		instead(&any, one);
	}
	also(out, any);
	return rc;
}

/* One term of matchFeatures. Names of sets are compared without regard to case. */
static int judge_term(struct walk *walk, const struct json_at *at, struct match *out,
		      struct error *err)
{
	struct json_at expressions = {0};
	struct json_at names = {0};
	const char *feature = NULL;
	char set[HOST_TEXT_MAX + 1] = "";
	bool known = false;
	int rc = json_need_string(at, "feature", &feature, err);
	if (rc == 0)
		rc = json_have(at, "matchExpressions", JSON_OBJECT, &expressions, err);
	if (rc == 0)
		rc = json_have(at, "matchName", JSON_OBJECT, &names, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < HOST_TEXT_MAX && feature[i] != '\0'; i++)
		set[i] = (char)tolower((unsigned char)feature[i]);
	walk->set = set;

	size_t count = 0; /* of the set's instances; it may have none */
	for (size_t i = 0; i < walk->features->count; i++) {
		if (!text_equal(walk->features->items[i].set, set))
			continue;
		count = walk->features->items[i].instance;
		known = true;
	}
	if (!known)
		*out = nothing(walk, at);
	if (count == 0) {
		rc = judge_each(walk, &expressions, judge_element, also, out, err);
	} else {
		/* One instance must match as a whole. */
		struct match any = nothing(walk, &expressions);
		for (walk->instance = 1; rc == 0 && walk->instance <= count; walk->instance++) {
			struct match one = yes;
			rc = judge_each(walk, &expressions, judge_element, also, &one, err);
			instead(&any, one);
		}
		walk->instance = 0;
		also(out, any);
	}
	return rc == 0 && names.node != NULL ? judge_names(walk, &names, out, err) : rc;
}

static int judge_terms(struct walk *walk, const struct json_at *at, struct match *out,
		       struct error *err)
{
	struct json_at terms = {0};
	int rc = json_have(at, "matchFeatures", JSON_ARRAY, &terms, err);
	return rc == 0 ? judge_each(walk, &terms, judge_term, also, out, err) : rc;
}

/* Records a matching rule's outputs, which later rules can use. Templates are not evaluated. */
static int keep_outputs(struct walk *walk, const struct json_at *rule, enum feature_answer answer,
			struct error *err)
{
	static const char *const maps[] = {"labels", "vars"};
	static const char *const templates[] = {"labelsTemplate", "varsTemplate"};
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		struct json_at map = {0};
		const char *template = "";
		int rc = json_have(rule, maps[i], JSON_OBJECT, &map, err);
		if (rc == 0)
			rc = json_have_string(rule, templates[i], &template, err);
		if (rc == 0)
			rc = count_steps(walk, json_count(&map), err);
		if (rc < 0)
			return rc;
		walk->features->matched_unknown |=
			(template[0] != '\0' && answer != FEATURE_NO) ||
			(json_count(&map) > 0 && answer == FEATURE_UNKNOWN);
		json_each (item, map.node) {
			const struct json_at at = {
				.node = item, .parent = &map, .key = item->string};
			if (!cJSON_IsString(item))
				return json_error(&at, err, "expected a string (quotes, perhaps)");
			if (answer == FEATURE_YES)
				features_add(walk->features, FEATURE_MATCHED, 0, item->string,
					     item->valuestring);
		}
	}
	return 0;
}

static int judge_rule(struct walk *walk, const struct json_at *at, struct match *out,
		      struct error *err)
{
	struct json_at elements = {0};
	struct match any = {FEATURE_NO, "what no part of matchAny finds"};
	const char *name = NULL;
	int rc = json_need_string(at, "name", &name, err);
	if (rc == 0)
		rc = judge_terms(walk, at, out, err);
	if (rc == 0)
		rc = json_have(at, "matchAny", JSON_ARRAY, &elements, err);
	if (rc == 0)
		rc = judge_each(walk, &elements, judge_terms, instead, &any, err);
	if (rc == 0 && json_count(&elements) > 0)
		also(out, any);
	if (rc == 0)
		rc = keep_outputs(walk, at, out->answer, err);
	if (rc == 0 && out->answer != FEATURE_YES)
		out->why = arena_format(walk->arena, "the rule '%.100s' wants %s", name, out->why);
	return rc;
}

/* Also adds its reason to those of the sets that do not match. */
static int judge_set(struct walk *walk, const struct json_at *at, struct match *out,
		     struct error *err)
{
	struct json_at rules = {0};
	const char *tag = "";
	int rc = json_need(at, "rules", JSON_ARRAY, &rules, err);
	if (rc == 0)
		rc = json_have_string(at, "tag", &tag, err);
	if (rc == 0)
		rc = judge_each(walk, &rules, judge_rule, also, out, err);
	if (out->answer == FEATURE_YES)
		out->why = "all rules match";
	if (tag[0] != '\0')
		out->why = arena_format(walk->arena, "of the set '%.100s' %s", tag, out->why);
	if (walk->reasons->size < REASONS_MAX)
		text_add_item(walk->reasons, "; ", out->why);
	return rc;
}

int compatibility_judge(const cJSON *document, struct features *features, struct arena *arena,
			struct compatibility_answer *out, struct error *err)
{
	static const enum compat_verdict verdicts[] = {
		[FEATURE_NO] = COMPAT_CANNOT_WORK,
		[FEATURE_UNKNOWN] = COMPAT_UNKNOWN,
		[FEATURE_YES] = COMPAT_WORKS,
	};
	struct text reasons CLEANUP_TEXT = {0};
	struct walk walk = {.features = features, .arena = arena, .reasons = &reasons};
	struct json_at root = json_root(document);
	struct json_at sets = {0};
	struct match best = {FEATURE_NO, "no set"};
	int rc = json_need(&root, "compatibilities", JSON_ARRAY, &sets, err);
	if (rc == 0)
		rc = judge_each(&walk, &sets, judge_set, instead, &best, err);
	if (rc < 0)
		return rc;
	out->verdict = verdicts[best.answer];
	out->reason =
		best.answer == FEATURE_YES ? best.why : arena_string(arena, text_string(&reasons));
	return 0;
}

/* YAML forbids duplicate keys, and NFD refuses such a document. */
static int check_keys(const struct json_at *at, struct error *err)
{
	struct json_at member = {.parent = at};
	const bool object = cJSON_IsObject(at->node);
	size_t count = 0;
	json_each (item, at->node) {
		member.node = item;
		member.key = object ? item->string : NULL;
		if (object && ++count > COMPATIBILITY_KEYS_MAX)
			return json_error(at, err, "more than %d keys",
					  (int)COMPATIBILITY_KEYS_MAX);
		if (object && cJSON_GetObjectItemCaseSensitive(at->node, item->string) != item)
			return json_error(&member, err, "appears twice");
		int rc = check_keys(&member, err);
		if (rc < 0)
			return rc;
		member.index++;
	}
	return 0;
}

int compatibility_parse(const char *data, size_t size, cJSON **out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	const char *version = NULL;
	if (size > COMPATIBILITY_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d bytes", (int)COMPATIBILITY_MAX);
	int rc = yaml_to_json(data, size, &document, err);
	struct json_at root = json_root(document);
	if (rc == 0)
		rc = check_keys(&root, err);
	if (rc == 0)
		rc = json_need_string(&root, "version", &version, err);
	if (rc < 0)
		return rc;
	if (!text_equal(version, "v1alpha1"))
		return error_set(err, ERROR_UNSUPPORTED,
				 "version '%.40s' of image compatibility, not v1alpha1", version);
	*out = STEAL(document);
	return 0;
}
