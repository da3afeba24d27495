/* SPDX-License-Identifier: MIT */
#include "reports/upgrade/upgrade.h"

#include "base/members.h"
#include "base/text_index.h"

enum { SEEN_MAX = 500 * 1000 }; /* records that may come of those of a journal */

static bool is_type(const cJSON *record, const char *type)
{
	return text_equal(json_pointer_string(record, "/type"), type);
}

/* The records of today so far. */
struct upgrading {
	cJSON *to;
	size_t seen;
	struct text_index paths; /* of evidence, which a check's end named again */
};

/* Appends a record with the head of `record`. `item` is what was seen: an object, whose members become the record's, or with
 * `key` the value of that member. */
static int add_seen(struct upgrading *it, const cJSON *record, const char *type, const char *key,
		    const cJSON *item, struct error *err)
{
	static const char *const head[] = {"seq", "atMs", "time", "check"};
	struct members seen CLEANUP_MEMBERS = members_new();
	if (++it->seen > SEEN_MAX)
		return error_set(err, ERROR_LIMIT, "its checks have seen more than %d things",
				 (int)SEEN_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(head); i++) {
		const cJSON *member = cJSON_GetObjectItemCaseSensitive(record, head[i]);
		if (member != NULL)
			member_copy(&seen, head[i], member);
	}
	member_string(&seen, "type", type);
	if (key != NULL)
		member_copy(&seen, key, item);
	json_each (member, key == NULL && cJSON_IsObject(item) ? item : NULL)
		member_copy(&seen, member->string, member);
	return members_append(it->to, members_take(&seen), err);
}

static int add_evidence(struct upgrading *it, const cJSON *record, const cJSON *evidence,
			struct error *err)
{
	const char *path = json_pointer_string(evidence, "/path");
	size_t found = 0;
	if (path == NULL)
		return add_seen(it, record, "evidence", NULL, evidence, err);
	if (text_index_get(&it->paths, path, &found))
		return 0;
	int rc = add_seen(it, record, "evidence", NULL, evidence, err);
	return rc == 0 ? text_index_put(&it->paths,
					json_pointer_string(it->to->child->prev, "/path"), 0,
					&found, err)
		       : rc;
}

static int take_end(struct upgrading *it, cJSON *end, struct error *err)
{
	static const struct {
		const char *list, *type, *key;
	} lists[] = {{"assertions", "assertion", NULL},
		     {"notes", "note", "text"},
		     {"evidence", NULL, NULL},
		     {"devices", "device", "ref"}};
	int rc = 0;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		cJSON *list CLEANUP_JSON =
			cJSON_DetachItemFromObjectCaseSensitive(end, lists[i].list);
		json_each (item, list) {
			if (rc == 0)
				rc = lists[i].type == NULL ? add_evidence(it, end, item, err)
							   : add_seen(it, end, lists[i].type,
								      lists[i].key, item, err);
		}
	}
	return rc;
}

static int upgrade_plan(cJSON *plan, struct error *err)
{
	int rc = 0;
	json_each (check, json_pointer(plan, "/checks")) {
		if (rc == 0)
			rc = upgrade_check_1((cJSON *)(uintptr_t)check, err);
	}
	return rc;
}

/* Appends what the record is today; takes it. */
static int take_record(struct upgrading *it, cJSON *record, struct error *err)
{
	cJSON *owned CLEANUP_JSON = record;
	const cJSON *evidence = cJSON_GetObjectItemCaseSensitive(record, "evidence");
	int rc = 0;
	cJSON_DeleteItemFromObjectCaseSensitive(record, "attempt");
	if (is_type(record, "evidence") && cJSON_IsObject(evidence))
		return add_evidence(it, record, evidence, err);
	if (is_type(record, "plan"))
		rc = upgrade_plan(record, err);
	else if (is_type(record, "check-end"))
		rc = take_end(it, record, err);
	return rc == 0 ? members_append(it->to, STEAL(owned), err) : rc;
}

int upgrade_journal_1(cJSON *records, struct error *err)
{
	cJSON *upgraded CLEANUP_JSON = cJSON_CreateArray();
	struct upgrading it = {.to = upgraded};
	int rc = upgraded != NULL ? 0 : error_memory(err);
	while (rc == 0 && records->child != NULL)
		rc = take_record(&it, cJSON_DetachItemViaPointer(records, records->child), err);
	text_index_free(&it.paths);
	if (rc < 0)
		return rc;
	records->child = upgraded->child;
	upgraded->child = NULL;
	return 0;
}
