/* SPDX-License-Identifier: MIT */
/* Answers of Allocate: asking for them, and judging their content. */
#include "conformance/checks/allocate.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/tally.h"
#include "containers/offers.h"
#include "containers/wine/translation.h"

#include <stdlib.h>
#include <string.h>

enum {
	ASKED_MAX = 256,   /* ids that are tested one by one */
	TOGETHER_MAX = 64, /* ids in one call */
	LIST_MS = 500,	   /* a list may come so long after an answer */
};

bool allocate_accept_refusal(struct rig *rig, const char *resource, const char *const *ids,
			     size_t count, const struct rpc_answer *reply)
{
	if (reply->reply != NULL || count < 2 || reply->message[0] == '\0')
		return false;

	/* A shared device has the same answer for two ids; in order, replicas of a device follow
	 * each other. */
	const bool windows = rig_is_windows(rig);
	struct rpc_answer before = {0};
	bool shared = false;
	for (size_t i = 0; !windows && !shared && i < count && i < TOGETHER_MAX; i++) {
		struct rpc_answer next = {0};
		struct allocate_difference difference = {0};
		const V1beta1__ContainerAllocateResponse *one = rig_first_response(&before);
		const V1beta1__ContainerAllocateResponse *other =
			rig_ask(rig, resource, &ids[i], 1, &next);
		shared = one != NULL && other != NULL &&
			 !allocate_differ(ALLOCATE_ALL, one, other, &difference);
		rpc_answer_free(&before);
		before = next;
	}
	rpc_answer_free(&before);

	if (windows || shared)
		check_note(rig->run,
			   "%zu devices of %s in one container: refused, which is allowed %s: %s",
			   count, resource, windows ? "on Windows" : "for a shared device",
			   reply->message);
	return windows || shared;
}

int allocate_on_socket(struct rig *rig, const char *socket, const char *id,
		       struct rpc_answer *reply, struct error *err)
{
	struct kubelet_allocate_request request = {0};
	struct rpc_channel *channel = NULL;
	char *address CLEANUP_FREE = text_format("unix:%s", socket);
	kubelet_allocate_request_add(&request, &id, 1);
	const struct rpc_unary_call call = {.method = kubelet_method_allocate.path,
					    .request = &request.request.base,
					    .reply_type = kubelet_method_allocate.reply,
					    .timeout_ms = RIG_CALL_MS};
	int rc = rpc_channel_open(&rig->loop, address, NULL, &channel, err);
	if (rc == 0)
		rc = rpc_unary_answer(channel, &call, reply, err);
	rpc_channel_close(channel);
	return rc;
}

struct asked {
	const struct rig *rig;
	const char *resource;
	const char *const *ids;
	size_t count;
};

static const char *find_unhealthy(const struct asked *asked)
{
	items_each (id, asked->ids, asked->count) {
		const struct kubelet_device *device =
			kubelet_resource_device(asked->rig->kubelet, asked->resource, *id);
		if (device != NULL && !kubelet_device_is_healthy(device))
			return *id;
	}
	return NULL;
}

static bool has_unhealthy(void *user)
{
	return find_unhealthy(user) != NULL;
}

const V1beta1__ContainerAllocateResponse *allocate_expect(struct rig *rig, const char *resource,
							  const char *const *ids, size_t count,
							  const char *what,
							  struct rpc_answer *reply)
{
	struct error err = {0};
	int rc = rig_allocate(rig, resource, ids, count, reply, &err);
	if (rc != 0) {
		(void)check_expect_ok(rig->run, rc,
				      rc == ERROR_TIMEOUT ? what : "Allocate is answered", &err);
		return NULL;
	}
	if (allocate_accept_refusal(rig, resource, ids, count, reply)) {
		(void)check_expect(rig->run, true, what, "OK, or a refusal that says why", "%s: %s",
				   rpc_code_name(reply->code), reply->message);
		return NULL;
	}
	if (reply->reply == NULL) {
		/* An id that has turned unhealthy since it was selected may be refused; the list may come after the answer. */
		struct asked asked = {rig, resource, ids, count};
		(void)loop_wait(&rig->loop, has_unhealthy, &asked, LIST_MS, "a list", NULL);
		const char *id = find_unhealthy(&asked);
		if (id != NULL) {
			check_unsupported(rig->run, "%s turned unhealthy, and was refused for that",
					  id);
			return NULL;
		}
	}
	if (!check_expect(rig->run, reply->reply != NULL, what, "OK", "%s%s%s",
			  rpc_code_name(reply->code), reply->message[0] != '\0' ? ": " : "",
			  reply->message))
		return NULL;
	const V1beta1__ContainerAllocateResponse *response = rig_first_response(reply);
	if (response == NULL)
		(void)check_expect(rig->run, false, "container responses", "one", "none");
	return response;
}

bool allocate_expect_first(struct rig *rig, const struct rig_item *item, const char *what)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	return allocate_expect(rig, item->resource, rig_ids(item->ids), 1, what, &reply) != NULL;
}

void allocate_expect_serves(struct rig *rig, const struct rig_item *item)
{
	(void)allocate_expect_first(rig, item, "Allocate of a healthy device afterwards");
}

bool allocate_expect_answered(struct rig *rig, const char *resource, const char *const *ids,
			      size_t count, struct rpc_answer *reply)
{
	struct error err = {0};
	int rc = rig_allocate(rig, resource, ids, count, reply, &err);
	return rc == 0 || check_expect_ok(rig->run, rc, "Allocate is answered", &err);
}

const V1beta1__ContainerAllocateResponse *
allocate_together(struct rig *rig, const struct rig_item *item, struct rpc_answer *reply)
{
	size_t count = item->ids->count < TOGETHER_MAX ? item->ids->count : TOGETHER_MAX;
	return allocate_expect(rig, item->resource, rig_ids(item->ids), count,
			       "all devices together", reply);
}

void allocate_for_each(struct rig *rig, const struct rig_item *item, check_judge *judge)
{
	const struct text_list *ids = item->ids;
	size_t count = ids->count < ASKED_MAX ? ids->count : ASKED_MAX;
	if (count < ids->count)
		check_note(rig->run, "%zu of the %zu ids of %s were tested", count, ids->count,
			   item->resource);
	for (size_t i = 0; i < count; i++) {
		const char *id = ids->items[i * ids->count / count];
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct rig_item one = {.resource = item->resource, .id = id, .user = item->user};
		one.answer = allocate_expect(rig, item->resource, &id, 1, id, &reply);
		if (one.answer != NULL)
			judge(rig, &one);
	}
}

void allocate_for_each_and_all(struct rig *rig, const struct rig_item *item, check_judge *judge,
			       void *user)
{
	const struct rig_item each = {.resource = item->resource, .ids = item->ids, .user = user};
	const struct text_list ids = {
		.items = item->ids->items,
		.count = item->ids->count < TOGETHER_MAX ? item->ids->count : TOGETHER_MAX,
	};
	struct rig_item all = {.resource = item->resource, .ids = &ids, .user = user};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	allocate_for_each(rig, &each, judge);
	if (ids.count < 2)
		return;
	int rc = rig_allocate(rig, item->resource, rig_ids(&ids), ids.count, &reply, &err);
	all.answer = rig_first_response(&reply);
	if (rc < 0)
		(void)check_expect_ok(rig->run, rc, "all devices together are answered", &err);
	else if (all.answer != NULL)
		judge(rig, &all);
}

void allocate_tally(struct rig *rig, const struct rig_item *item)
{
	const struct allocate_rule *rule = check_row(rig->run)->param;
	TALLY(tally, rig->run, rule->what, rule->wanted);
	allocate_for_each_and_all(rig, item, rule->judge, &tally);
	if (tally.count == 0)
		check_not_applicable(rig->run, "%s", rule->none);
}

/* Entries of an answer by their fields: texts, the container path or name first, and flags. */
static int compare_entries(const void *a, const void *b)
{
	const ProtobufCMessage *left = *(ProtobufCMessage *const *)a;
	const ProtobufCMessage *right = *(ProtobufCMessage *const *)b;
	int order = 0;
	for (unsigned i = 0; order == 0 && i < left->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &left->descriptor->fields[i];
		const void *one = (const char *)left + field->offset;
		const void *other = (const char *)right + field->offset;
		order = field->type == PROTOBUF_C_TYPE_STRING
				? strcmp(*(char *const *)one, *(char *const *)other)
				: *(const protobuf_c_boolean *)one -
					  *(const protobuf_c_boolean *)other;
	}
	return order;
}

static bool path_exists(const struct context *context, const char *path)
{
	/* On the Wine node, Windows paths are files of this machine. */
	if (OFFERS_WINE_NODE && context->wine_directory != NULL) {
		struct wine_node node CLEANUP_WINE_NODE = {0};
		char *place CLEANUP_FREE = NULL;
		return wine_node_open(context->wine_directory, &node, NULL) == 0 &&
		       wine_find_file(&node, path, &place, NULL) == 0;
	}
	return path_is_absolute(path) && file_exists(path);
}

/* Tallies over all answers of a resource. */
struct answers {
	struct tally mounts, others, targets;
};

static void judge_paths(struct rig *rig, const struct rig_item *item)
{
	const V1beta1__ContainerAllocateResponse *answer = item->answer;
	struct answers *answers = item->user;

	/* Files may be put in place by PreStartContainer, after the answer that names them. */
	if (rig_options(rig, item->resource).pre_start_required) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct error err = {0};
		uint64_t start = clock_monotonic_ns();
		const bool one = item->id != NULL;
		const V1beta1__PreStartContainerRequest request = kubelet_pre_start_request(
			one ? &item->id : rig_ids(item->ids), one ? 1 : item->ids->count);
		int rc = kubelet_call(kubelet_resource_plugin(rig->kubelet, item->resource),
				      &kubelet_method_pre_start, &request.base, RIG_START_MS,
				      &reply, &err);
		if (rc == 0 && reply.code != RPC_OK)
			rc = error_set(&err, ERROR_REMOTE, "%s: %s", rpc_code_name(reply.code),
				       reply.message);
		rig_waited(rig, start);
		if (rc < 0)
			(void)check_expect_ok(rig->run, rc, "PreStartContainer", &err);
	}

	answer_each (mount, answer, mounts) {
		const char *path = mount->host_path;
		bool exists = path_exists(rig->context, path);
		tally_add(&answers->mounts, exists, "%s%s", path, exists ? "" : " (missing)");
		const char *target = mount->container_path;
		tally_add(&answers->targets, rig_is_windows(rig) || path_is_absolute(target),
			  "'%s' for %s", target, path);
	}
	/* On Windows it is not a path: windows.string-form and windows.location-path judge it. */
	if (rig_is_windows(rig))
		return;
	answer_each (device, answer, devices) {
		const char *path = device->host_path;
		struct node_file file = {0};
		/* For a folder the runtime creates every node in it. */
		bool is_node = path_is_absolute(path) && node_file_identify(path, &file) &&
			       (node_file_is_device(&file) || file.kind == NODE_FILE_FOLDER);
		tally_add(&answers->others, is_node, "%s (missing, or not a device node)", path);
		const char *target = device->container_path;
		tally_add(&answers->targets, path_is_absolute(target), "'%s' for %s", target, path);
	}
}

void allocate_paths_exist(struct rig *rig, const struct rig_item *item)
{
	struct answers answers = {
		.mounts = TALLY_OF(rig->run, "mounts[].host_path", "absolute and present"),
		.others = TALLY_OF(rig->run, "devices[].host_path",
				   "a device node, or a folder of them"),
		.targets = TALLY_OF(rig->run, "container_path", "absolute"),
	};
	allocate_for_each_and_all(rig, item, judge_paths, &answers);
	tally_end(&answers.mounts);
	tally_end(&answers.others);
	tally_end(&answers.targets);
}

/* Of several entries with one container path the kubelet keeps only the first; with two spellings of one path it keeps
 * both, and the runtime mounts one over the other. Both kinds of entries begin with the container path and the host
 * path. */
static void expect_unique(struct rig *rig, const char *what, void *entries, size_t count)
{
	ProtobufCMessage **all = entries;
	TALLY(paths, rig->run, what, "the same each time");
	items_each (entry, all, count) {
		char *path = ((V1beta1__Mount *)*entry)->container_path;
		char *normal CLEANUP_FREE = path[0] == '/' ? path_normalize(path) : NULL;
		if (normal != NULL) /* never longer */
			memcpy(path, normal, strlen(normal) + 1);
	}
	if (count > 1)
		qsort(entries, count, sizeof(void *), compare_entries);
	for (size_t i = 0; i < count; i++) {
		const V1beta1__Mount *mount = (const V1beta1__Mount *)all[i];
		const V1beta1__Mount *before = (const V1beta1__Mount *)all[i == 0 ? 0 : i - 1];
		tally_add(&paths,
			  strcmp(before->container_path, mount->container_path) != 0 ||
				  compare_entries(&all[i == 0 ? 0 : i - 1], &all[i]) == 0,
			  "%s is %s and %s", mount->container_path, before->host_path,
			  mount->host_path);
	}
}

static void judge_unique_paths(struct rig *rig, const struct rig_item *item)
{
	const V1beta1__ContainerAllocateResponse *answer = item->answer;
	expect_unique(rig, "mounts[].container_path", answer->mounts, answer->n_mounts);
	/* Windows devices have no path in the container: containerd requires an empty one. */
	if (!rig_is_windows(rig))
		expect_unique(rig, "devices[].container_path", answer->devices, answer->n_devices);
	if (answer->n_mounts == 0 && answer->n_devices == 0)
		(void)check_expect(rig->run, true, "entries of the answer", "different paths",
				   "no mount and no device node");
}

void allocate_unique_paths(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct rig_item together = {.resource = item->resource};
	together.answer = allocate_together(rig, item, &reply);
	if (together.answer != NULL)
		judge_unique_paths(rig, &together);
	else /* refused together, so one by one */
		allocate_for_each(rig, item, judge_unique_paths);
}
