/* SPDX-License-Identifier: MIT */
/* Allocate over time: answers that other calls, other ids, or a restart of the plugin must not change. */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/tally.h"
#include "conformance/kubelet/id_set.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
	FILES_MAX = 64,
	FILE_BYTES_MAX = 65536,
	LISTED_MS = 1000, /* within which a list caused by Allocate comes */
	LISTED_ROUNDS = 3,
	LISTED_MAX = 16,  /* ids that are allocated meanwhile */
	SEVERAL_MAX = 16, /* ids in one call that are compared with each by itself */
	PAIRS_MS = 3000,  /* for a plugin that answers slowly */
};

static const char device_node[] = "device node ";

/* Lists the grants of an answer: "device node /dev/a", "mounted file /b", "CDI device c/d=e". */
static void read_handed_out(const V1beta1__ContainerAllocateResponse *answer, bool files,
			    struct text_list *out)
{
	answer_each (device, answer, devices)
		text_list_addf(out, "%s%s", device_node, device->host_path);
	if (files) {
		answer_each (mount, answer, mounts)
			text_list_addf(out, "mounted file %s", mount->host_path);
	}
	answer_each (cdi, answer, cdi_devices)
		text_list_addf(out, "CDI device %s", cdi->name);
}

static void read_sources(const V1beta1__ContainerAllocateResponse *answer, struct id_set *out)
{
	struct text_list list CLEANUP_TEXT_LIST = {0};
	read_handed_out(answer, false, &list);
	if (list.count == 0) {
		answer_each (env, answer, envs)
			text_list_addf(&list, "%s=%s", env->key, env->value);
	}
	id_set_add_strings(out, rig_ids(&list), list.count);
}

bool allocate_same_sources(const V1beta1__ContainerAllocateResponse *first,
			   const V1beta1__ContainerAllocateResponse *second,
			   struct allocate_difference *out)
{
	struct id_set one CLEANUP_ID_SET = {0};
	struct id_set other CLEANUP_ID_SET = {0};
	read_sources(first, &one);
	read_sources(second, &other);
	for (size_t i = 0; i < one.list.count || i < other.list.count; i++) {
		const char *a = i < one.list.count ? one.list.items[i] : "nothing more";
		const char *b = i < other.list.count ? other.list.items[i] : "nothing more";
		if (strcmp(a, b) == 0)
			continue;
		out->found = true;
		(void)snprintf(out->first, ALLOCATE_SHOWN, "%s", a);
		(void)snprintf(out->second, ALLOCATE_SHOWN, "%s", b);
		return false;
	}
	return true;
}

/* The value of a variable; NULL: the answer has none of this name. */
static const char *variable(const V1beta1__ContainerAllocateResponse *answer, const char *name)
{
	answer_each (env, answer, envs) {
		if (strcmp(env->key, name) == 0)
			return env->value;
	}
	return NULL;
}

/* Does the variable name the device, which means that its value differs in the other id's answer? */
static bool names_device(const V1beta1__ContainerAllocateResponse__EnvsEntry *env,
			 const V1beta1__ContainerAllocateResponse *other)
{
	const char *value = variable(other, env->key);
	return value == NULL || strcmp(value, env->value) != 0;
}

static bool some_variable_has(const V1beta1__ContainerAllocateResponse *answer, const char *value)
{
	answer_each (env, answer, envs) {
		if (strstr(env->value, value) != NULL)
			return true;
	}
	return false;
}

/* Is the device node granted at a path other than the wanted ones? */
static bool has_node(const V1beta1__ContainerAllocateResponse *answer,
		     const struct text_list *expected, const char *path)
{
	struct node_file wanted = {0};
	if (!node_file_identify(path, &wanted))
		return false;
	answer_each (device, answer, devices) {
		const char *other = device->host_path;
		struct node_file file = {0};
		char *member CLEANUP_FREE = text_format("%s%s", device_node, other);
		if (!text_list_has(expected, member) && node_file_identify(other, &file) &&
		    file.kind == wanted.kind && file.major == wanted.major &&
		    file.minor == wanted.minor)
			return true;
	}
	return false;
}

/* A device that a container may read and write alone is one that it may read and write beside others. */
static void tally_permissions(struct tally *tally, const V1beta1__ContainerAllocateResponse *alone,
			      const V1beta1__ContainerAllocateResponse *together)
{
	answer_each (device, alone, devices) {
		answer_each (other, together, devices) {
			const bool less = (strchr(device->permissions, 'r') != NULL &&
					   strchr(other->permissions, 'r') == NULL) ||
					  (strchr(device->permissions, 'w') != NULL &&
					   strchr(other->permissions, 'w') == NULL);
			if (strcmp(other->host_path, device->host_path) == 0)
				tally_add(tally, !less, "%s (%s), by itself (%s)", other->host_path,
					  other->permissions, device->permissions);
		}
	}
}

/* Does it name all devices of a kind by one name? */
static bool names_all(const V1beta1__ContainerAllocateResponse *answer)
{
	answer_each (cdi, answer, cdi_devices) {
		const char *name = strchr(cdi->name, '=');
		if (name != NULL && strcmp(name, "=all") == 0)
			return true;
	}
	answer_each (env, answer, envs) {
		if (strcmp(env->value, "all") == 0)
			return true;
	}
	return false;
}

#define EACH_BY_ITSELF "all that each gets by itself"

/* The answer for all of these ids must contain the grants of each single answer, and with `foreign` nothing
 * else. */
static void tally_each(struct tally *missing, struct tally *foreign, bool stable,
		       const V1beta1__ContainerAllocateResponse *const *answers, size_t count,
		       const V1beta1__ContainerAllocateResponse *together)
{
	struct text_list wanted CLEANUP_TEXT_LIST = {0};
	struct text_list saw CLEANUP_TEXT_LIST = {0};
	items_each (answer, answers, count)
		read_handed_out(*answer, stable, &wanted);
	read_handed_out(together, stable, &saw);
	text_each (member, &wanted)
		tally_add(missing,
			  text_list_has(&saw, member) ||
				  (text_starts_with(member, device_node) &&
				   has_node(together, &wanted, member + strlen(device_node))),
			  "no %s", member);
	if (foreign != NULL) {
		text_each (member, &saw)
			tally_add(foreign, text_list_has(&wanted, member), "%s", member);
	}

	items_each (answer, answers, count)
		tally_permissions(missing, *answer, together);

	/* Numbers may be sums. */
	for (size_t i = 0; stable && i < count; i++) {
		answer_each (env, answers[i], envs) {
			bool number = env->value[strspn(env->value, "0123456789.")] == '\0';
			if (!number && names_device(env, answers[(i + 1) % count]))
				tally_add(missing, some_variable_has(together, env->value),
					  "no %s=%s", env->key, env->value);
		}
	}
}

/* All of the ids in one call, and any two of them. */
static void expect_together(struct rig *rig, const char *resource, const char *const *ids,
			    const V1beta1__ContainerAllocateResponse *const *answers, size_t count)
{
	TALLY(all, rig->run, check_format(rig->run, "the answer for %zu ids", count),
	      EACH_BY_ITSELF);
	TALLY(pairs, rig->run, check_format(rig->run, "answers for two of %zu ids", count),
	      EACH_BY_ITSELF);
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerAllocateResponse *together =
		rig_ask(rig, resource, ids, count, &reply);
	if (together != NULL && !names_all(together))
		tally_each(&all, NULL, false, answers, count, together);
	const uint64_t begin_ms = clock_monotonic_ms();
	for (size_t i = 0; i + 1 < count; i++) {
		for (size_t k = i + 1; k < count && clock_monotonic_ms() - begin_ms < PAIRS_MS;
		     k++) {
			const char *const two[] = {ids[i], ids[k]};
			const V1beta1__ContainerAllocateResponse *const each[] = {answers[i],
										  answers[k]};
			struct rpc_answer answer CLEANUP_RPC_ANSWER = {0};
			together = rig_ask(rig, resource, two, 2, &answer);
			if (together != NULL && !names_all(together))
				tally_each(&pairs, NULL, false, each, 2, together);
		}
	}
}

/* A spread-out sample of the ids in one call. Files may differ between sets of ids. allocate.each-and-all
 * judges refusals. */
static void expect_several(struct rig *rig, const struct rig_item *item)
{
	const char *ids[SEVERAL_MAX] = {NULL};
	struct rpc_answer replies[SEVERAL_MAX] = {{0}};
	const V1beta1__ContainerAllocateResponse *answers[SEVERAL_MAX] = {NULL};
	size_t count = item->ids->count < SEVERAL_MAX ? item->ids->count : SEVERAL_MAX;
	bool answered = true;
	for (size_t i = 0; answered && i < count; i++) {
		ids[i] = item->ids->items[i * item->ids->count / count];
		answers[i] = rig_ask(rig, item->resource, &ids[i], 1, &replies[i]);
		answered = answers[i] != NULL;
	}
	if (answered)
		expect_together(rig, item->resource, ids, answers, count);
	items_each (reply, replies, count)
		rpc_answer_free(reply);
}

/* Asks for the id, and compares with its first answer. */
static void expect_unchanged(struct rig *rig, const struct rig_item *item, const char *id,
			     const char *when, bool stable,
			     const V1beta1__ContainerAllocateResponse *first)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct allocate_difference difference = {0};
	const V1beta1__ContainerAllocateResponse *answer =
		allocate_expect(rig, item->resource, &id, 1, when, &reply);
	if (answer == NULL)
		return;
	bool differs = allocate_changed(stable, first, answer, &difference);
	(void)check_expect(rig->run, !differs, check_format(rig->run, "%s %s", id, when),
			   differs ? difference.first : "the same answer", "%s",
			   differs ? difference.second : "the same answer");
}

/* Small files of an answer, such as configurations that a plugin writes: path and content in turn. */
static void keep_files(const V1beta1__ContainerAllocateResponse *answer, struct text_list *out)
{
	answer_each (mount, answer, mounts) {
		const char *path = mount->host_path;
		struct node_file file = {0};
		char *content CLEANUP_FREE = NULL;
		/* Files of the kernel report sizes other than their contents, and change by themselves. */
		if (out->count / 2 == FILES_MAX || !node_file_identify(path, &file) ||
		    file.kind != NODE_FILE_REGULAR ||
		    file_read(path, FILE_BYTES_MAX, &content, NULL, NULL) < 0 ||
		    strlen(content) != file.size)
			continue;
		text_list_add(out, path);
		text_list_add(out, content);
	}
}

/* The container of the earlier answer reads the current contents. */
static void expect_files(struct rig *rig, const char *id, const struct text_list *files)
{
	TALLY(same, rig->run,
	      check_format(rig->run, "files of %s after Allocate of another id", id), "as before");
	for (size_t i = 0; i + 1 < files->count; i += 2) {
		const char *path = files->items[i];
		char *content CLEANUP_FREE = NULL;
		bool read = file_read(path, FILE_BYTES_MAX, &content, NULL, NULL) == 0;
		tally_add(&same, read && strcmp(content, files->items[i + 1]) == 0,
			  "%s has changed", path);
	}
}

/* Everything for a container with the id must be in its answer, where it is visible. */
static bool expect_contents(struct rig *rig, const char *resource, const char *id)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerAllocateResponse *answer =
		allocate_expect(rig, resource, &id, 1, id, &reply);
	return answer != NULL &&
	       check_expect_is(rig->run,
			       answer->n_devices + answer->n_mounts + answer->n_envs +
					       answer->n_annotations + answer->n_cdi_devices !=
				       0,
			       check_format(rig->run, "the answer for %s", id),
			       "something for the container", "empty");
}

void allocate_independent(struct rig *rig, const struct rig_item *item)
{
	const char *ids[] = {item->ids->items[0], item->ids->items[item->ids->count - 1]};
	struct rpc_answer replies[3] = {{0}};
	const V1beta1__ContainerAllocateResponse *answers[2] = {NULL};
	if (!expect_contents(rig, item->resource, ids[0]))
		return;
	if (item->ids->count < 2) {
		check_not_applicable(rig->run, "%s has one device", item->resource);
		return;
	}
	bool stable = allocate_is_stable(rig, item);
	struct text_list files CLEANUP_TEXT_LIST = {0};
	for (size_t i = 0; i < 2; i++) {
		answers[i] = allocate_expect(rig, item->resource, &ids[i], 1, ids[i], &replies[i]);
		if (i == 0 && answers[0] != NULL)
			keep_files(answers[0], &files);
	}
	if (answers[0] != NULL && answers[1] != NULL) {
		expect_files(rig, ids[0], &files);
		expect_unchanged(rig, item, ids[0], "after Allocate of another id", stable,
				 answers[0]);
		if (rig_options(rig, item->resource).get_preferred_allocation_available) {
			struct rpc_answer preferred CLEANUP_RPC_ANSWER = {0};
			(void)rig_prefer(rig, item->resource, ids, 1, &preferred, NULL);
			expect_unchanged(rig, item, ids[1],
					 "after GetPreferredAllocation of another id", stable,
					 answers[1]);
		}
		/* allocate.each-and-all judges a refusal. */
		struct error err = {0};
		int rc = rig_allocate(rig, item->resource, ids, 2, &replies[2], &err);
		const V1beta1__ContainerAllocateResponse *together =
			rig_first_response(&replies[2]);
		(void)check_expect_ok(rig->run, rc, "two ids in one container are answered", &err);
		if (together != NULL && !rig_is_windows(rig)) {
			TALLY(foreign, rig->run, "the answer for two ids",
			      "nothing that none gets by itself");
			TALLY(missing, rig->run, "the answer for two ids", EACH_BY_ITSELF);
			tally_each(&missing, &foreign, stable, answers, 2, together);
		} else if (rc == 0 && together == NULL)
			check_note(rig->run, "two ids in one container: %s %s",
				   rpc_code_name(replies[2].code), replies[2].message);
		expect_unchanged(rig, item, ids[1], "after Allocate of two ids", stable,
				 answers[1]);
		if (item->ids->count > 2 && !rig_is_windows(rig))
			expect_several(rig, item);
	}
	array_each (reply, replies)
		rpc_answer_free(reply);
}

/* A device that was allocated. */
struct staying {
	const char *resource, *id;
	const char *wrong; /* what was wrong with it in a list of this round; NULL: nothing */
	bool always;	   /* wrong in each round */
};

struct staying_all {
	struct staying *each;
	size_t count;
};

static void judge_list(const struct staying_all *all, const char *resource,
		       const struct kubelet_device_list *list)
{
	items_each (staying, all->each, all->count) {
		if (list == NULL || !text_equal(staying->resource, resource))
			continue;
		const struct kubelet_device *device = kubelet_device_find(list, staying->id);
		if (!kubelet_device_is_healthy(device))
			staying->wrong = kubelet_device_state(device);
	}
}

static void on_list(const struct kubelet_event *event, void *user)
{
	judge_list(user, event->resource, event->devices);
}

/* Allocates each id, and watches the lists for a while. Other checks judge the answers. */
static bool some_are_wrong(struct rig *rig, struct staying_all *all)
{
	bool some = false;
	items_each (staying, all->each, all->count)
		staying->wrong = NULL;
	rig->on_list = on_list;
	rig->on_list_user = all;
	items_each (staying, all->each, all->count) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct rpc_answer preferred CLEANUP_RPC_ANSWER = {0};
		const char *resource = staying->resource;
		(void)rig_allocate(rig, resource, &staying->id, 1, &reply, NULL);
		if (rig_options(rig, resource).get_preferred_allocation_available)
			(void)rig_prefer(rig, resource, &staying->id, 1, &preferred, NULL);
	}
	(void)rig_watch(rig, LISTED_MS, LISTED_MS);
	rig->on_list = NULL;
	rig_each (resource, rig)
		judge_list(all, resource, kubelet_resource_devices(rig->kubelet, resource));
	items_each (staying, all->each, all->count) {
		staying->always = staying->always && staying->wrong != NULL;
		some = some || staying->always;
	}
	return some;
}

/* The kubelet knows what it has allocated; a device in use is healthy. One that fails by itself does not fail
 * after each Allocate. */
void allocate_lists_stay(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct staying_all all = {0};
	TALLY(devices, run, "devices after Allocate or GetPreferredAllocation",
	      "listed and healthy, as before");
	if (rig == NULL)
		return;
	rig_each (resource, rig) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		if (!rig_healthy_ids(rig, resource, &ids))
			break;
		for (size_t i = 0; i < ids.count && i < LISTED_MAX; i++) {
			all.each = memory_resize(all.each, all.count + 1, sizeof(*all.each));
			all.each[all.count++] = (struct staying){
				resource, check_format(run, "%s", ids.items[i]), NULL, true};
		}
	}
	for (size_t round = 0; round < LISTED_ROUNDS && some_are_wrong(rig, &all); round++)
		continue;
	items_each (staying, all.each, all.count)
		tally_add(&devices, !staying->always, "%s is %s", staying->id,
			  staying->wrong != NULL ? staying->wrong : "well again");
	free(all.each);
}

/* Compares the grants of each id before and after the plugin's restart. */
void allocate_after_restart(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	TALLY(same, run, "devices after the plugin's restart", "those before");
	TALLY(equal, run, "answers after the plugin's restart", "those before");
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct allocate_kept kept CLEANUP_ALLOCATE_KEPT = {0};
	if (rig == NULL || !rig_healthy_ids(rig, rig->resources.items[0], &ids))
		return;
	const struct rig_item item = {.resource = rig->resources.items[0], .ids = &ids};
	bool stable = allocate_is_stable(rig, &item);
	size_t from = ids.count > ALLOCATE_KEPT_MAX ? ids.count - ALLOCATE_KEPT_MAX : 0;
	for (size_t i = from; i < ids.count; i++) {
		if (!allocate_keep(rig, item.resource, ids.items[i], &kept))
			return;
	}
	if (!rig_restart_plugin(rig, SIGTERM) || !rig_expect_listed(rig))
		return;
	for (size_t i = 0; i < kept.count; i++) {
		const struct allocate_kept_answer *one = &kept.each[i];
		struct rpc_answer after CLEANUP_RPC_ANSWER = {0};
		struct allocate_difference difference = {0};
		if (!kubelet_resource_device(rig->kubelet, one->resource, one->id)) {
			check_unsupported(run,
					  "%s is gone after the restart; see "
					  "list-and-watch.ids-stable",
					  one->id);
			return;
		}
		const V1beta1__ContainerAllocateResponse *second = allocate_expect(
			rig, one->resource, &one->id, 1, "Allocate after the restart", &after);
		if (second == NULL)
			return;
		bool differs =
			allocate_differ(ALLOCATE_GRANTED, one->answer, second, &difference) &&
			difference.is_device;
		tally_add(&same, !differs, "%s: %s, not %s", one->id, difference.second,
			  difference.first);
		/* The value that named the device before must name it afterwards. */
		const V1beta1__ContainerAllocateResponse *other =
			kept.each[(i + 1) % kept.count].answer;
		answer_each (env, one->answer, envs) {
			const char *value = variable(second, env->key);
			if (stable && kept.count > 1 && value != NULL && names_device(env, other))
				tally_add(&same, strcmp(value, env->value) == 0,
					  "%s: %s=%s, not %s", one->id, env->key, value,
					  env->value);
		}
		if (!differs && stable)
			tally_add(&equal,
				  !allocate_differ(ALLOCATE_ALL, one->answer, second, &difference),
				  "%s: %s, not %s", one->id, difference.second, difference.first);
	}
}
