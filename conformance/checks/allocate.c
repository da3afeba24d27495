/* SPDX-License-Identifier: MIT */
/* Allocate: what the plugin hands out, and how it answers what it cannot. */
#include "base/clock.h"
#include "base/path.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/suites.h"
#include "rpc/rpc.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum {
	PROMPT_MS = 5000,
	TOGETHER_MAX = 64,
	REPEATS = 20,
	STOP_MS = 30000,
};

#define UNKNOWN_ID "gpucert-no-such-device::0"

/* One Allocate call with these ids. *out is the response, NULL unless the plugin answered OK; the
 * reply is freed by the caller. False: no answer at all, recorded. */
static bool allocate_call(struct rig *rig, const char *resource, const char *const *ids,
			  size_t count, struct kubelet_reply *reply,
			  const V1beta1__AllocateResponse **out)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_call_allocate(kubelet_resource_plugin(rig->kubelet, resource), ids, count,
				       RIG_CALL_MS, reply, &err);

	rig_waited(rig, start);
	*out = rc == 0 ? (const V1beta1__AllocateResponse *)reply->reply : NULL;
	return rc == 0 || check_expect_ok(rig->run, rc, "Allocate is answered", &err);
}

/* Allocates and records that it worked and holds one response. Returns that response or NULL. */
static const V1beta1__ContainerAllocateResponse *
allocate_expect(struct rig *rig, const char *resource, const char *const *ids, size_t count,
		const char *what, struct kubelet_reply *reply)
{
	const V1beta1__AllocateResponse *response = NULL;

	if (!allocate_call(rig, resource, ids, count, reply, &response))
		return NULL;
	if (!check_expect(rig->run, response != NULL, what, "OK", "%s%s%s",
			  rpc_code_name(reply->code), reply->message[0] != '\0' ? ": " : "",
			  reply->message))
		return NULL;
	if (!check_expect_int(rig->run, "container responses",
			      (long long)response->n_container_responses, 1))
		return NULL;
	return response->container_responses[0];
}

/* Calls `judge` for each resource with its healthy ids. */
static void allocate_each(struct check_run *run,
			  void (*judge)(struct rig *rig, const char *resource,
					const struct text_list *ids))
{
	struct rig *rig = rig_ready(run);

	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};

		if (!rig_healthy_ids(rig, rig->resources.items[i], &ids))
			return;
		judge(rig, rig->resources.items[i], &ids);
	}
}

static void one_response(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct kubelet_reply reply = {0};

	(void)allocate_expect(rig, resource, (const char *const *)ids->items, 1,
			      "Allocate of one device", &reply);
	kubelet_reply_free(&reply);
}

static void allocate_one_response(struct check_run *run)
{
	allocate_each(run, one_response);
}

static void prompt(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct kubelet_reply reply = {0};

	if (allocate_expect(rig, resource, (const char *const *)ids->items, 1,
			    "Allocate of one device", &reply) != NULL)
		(void)check_expect_at_most(rig->run, "milliseconds", (long long)reply.duration_ms,
					   PROMPT_MS);
	kubelet_reply_free(&reply);
}

static void allocate_prompt(struct check_run *run)
{
	allocate_each(run, prompt);
}

static void each_and_all(struct rig *rig, const char *resource, const struct text_list *ids)
{
	size_t count = ids->count < TOGETHER_MAX ? ids->count : TOGETHER_MAX;

	for (size_t i = 0; i < count; i++) {
		struct kubelet_reply reply = {0};

		(void)allocate_expect(rig, resource, (const char *const *)&ids->items[i], 1,
				      ids->items[i], &reply);
		kubelet_reply_free(&reply);
	}
	struct kubelet_reply reply = {0};

	(void)allocate_expect(rig, resource, (const char *const *)ids->items, count,
			      "all devices together", &reply);
	kubelet_reply_free(&reply);
}

static void allocate_each_and_all(struct check_run *run)
{
	allocate_each(run, each_and_all);
}

/* Packed bytes of a response: equal answers pack to equal bytes. NULL: out of memory. */
static uint8_t *allocate_pack(const V1beta1__ContainerAllocateResponse *response, size_t *size)
{
	*size = v1beta1__container_allocate_response__get_packed_size(response);
	uint8_t *bytes = malloc(*size + 1);

	if (bytes != NULL)
		(void)v1beta1__container_allocate_response__pack(response, bytes);
	return bytes;
}

static int allocate_compare_mounts(const void *a, const void *b)
{
	return strcmp((*(V1beta1__Mount *const *)a)->container_path,
		      (*(V1beta1__Mount *const *)b)->container_path);
}

static int allocate_compare_nodes(const void *a, const void *b)
{
	return strcmp((*(V1beta1__DeviceSpec *const *)a)->container_path,
		      (*(V1beta1__DeviceSpec *const *)b)->container_path);
}

static int allocate_compare_envs(const void *a, const void *b)
{
	return strcmp((*(V1beta1__ContainerAllocateResponse__EnvsEntry *const *)a)->key,
		      (*(V1beta1__ContainerAllocateResponse__EnvsEntry *const *)b)->key);
}

static void allocate_sort(void *items, size_t count, size_t size,
			  int (*compare)(const void *, const void *))
{
	if (count > 1)
		qsort(items, count, size, compare);
}

/* A response is a set: mounts, devices and envs in any order mean the same. */
static void allocate_normalise(const V1beta1__ContainerAllocateResponse *response)
{
	allocate_sort(response->mounts, response->n_mounts, sizeof(*response->mounts),
		      allocate_compare_mounts);
	allocate_sort(response->devices, response->n_devices, sizeof(*response->devices),
		      allocate_compare_nodes);
	allocate_sort(response->envs, response->n_envs, sizeof(*response->envs),
		      allocate_compare_envs);
}

static void allocate_expect_same(struct rig *rig, const char *what,
				 const V1beta1__ContainerAllocateResponse *first,
				 const V1beta1__ContainerAllocateResponse *second)
{
	size_t sizes[2] = {0, 0};

	if (first == NULL || second == NULL)
		return;
	allocate_normalise(first);
	allocate_normalise(second);
	uint8_t *left CLEANUP_FREE = allocate_pack(first, &sizes[0]);
	uint8_t *right CLEANUP_FREE = allocate_pack(second, &sizes[1]);

	if (left == NULL || right == NULL) {
		check_broken(rig->run, "out of memory");
		return;
	}
	(void)check_expect(rig->run, sizes[0] == sizes[1] && memcmp(left, right, sizes[0]) == 0,
			   what, "the same answer", "%s",
			   sizes[0] == sizes[1] && memcmp(left, right, sizes[0]) == 0
				   ? "the same answer"
				   : "another answer");
}

static void order(struct rig *rig, const char *resource, const struct text_list *ids)
{
	const char *backwards[TOGETHER_MAX] = {NULL};
	size_t count = ids->count < TOGETHER_MAX ? ids->count : TOGETHER_MAX;
	struct kubelet_reply replies[2] = {0};

	for (size_t i = 0; i < count; i++)
		backwards[i] = ids->items[count - 1 - i];
	allocate_expect_same(rig, "ids in reverse order",
			     allocate_expect(rig, resource, (const char *const *)ids->items, count,
					     "ids in order", &replies[0]),
			     allocate_expect(rig, resource, backwards, count,
					     "ids in reverse order", &replies[1]));
	kubelet_reply_free(&replies[0]);
	kubelet_reply_free(&replies[1]);
}

static void allocate_order(struct check_run *run)
{
	allocate_each(run, order);
}

static void repeat(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct kubelet_reply first = {0};
	const V1beta1__ContainerAllocateResponse *wanted = allocate_expect(
		rig, resource, (const char *const *)ids->items, 1, "the first Allocate", &first);

	for (int i = 1; wanted != NULL && i < REPEATS; i++) {
		struct kubelet_reply again = {0};

		allocate_expect_same(rig, "Allocate of the same id again", wanted,
				     allocate_expect(rig, resource, (const char *const *)ids->items,
						     1, "Allocate of the same id again", &again));
		kubelet_reply_free(&again);
	}
	kubelet_reply_free(&first);
}

static void allocate_repeat(struct check_run *run)
{
	allocate_each(run, repeat);
}

/* Several container requests in one call, each for one id. */
static void several_requests(struct rig *rig, const char *resource, const struct text_list *ids)
{
	V1beta1__ContainerAllocateRequest first = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest last = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&first, &last};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	struct kubelet_reply together = {0};
	struct kubelet_reply alone = {0};
	struct error err = {0};
	int rc = 0;

	first.devices_ids = &ids->items[0];
	first.n_devices_ids = 1;
	last.devices_ids = &ids->items[ids->count - 1];
	last.n_devices_ids = 1;
	request.container_requests = containers;
	request.n_container_requests = 2;
	rc = kubelet_call(kubelet_resource_plugin(rig->kubelet, resource), "Allocate",
			  &request.base, &v1beta1__allocate_response__descriptor, RIG_CALL_MS,
			  &together, &err);
	if (check_expect_ok(rig->run, rc, "Allocate is answered", &err) &&
	    check_expect_text(rig->run, "two container requests", rpc_code_name(together.code),
			      "OK")) {
		const V1beta1__AllocateResponse *response =
			(const V1beta1__AllocateResponse *)together.reply;

		if (check_expect_int(rig->run, "container responses",
				     (long long)response->n_container_responses, 2))
			allocate_expect_same(
				rig, "second container response", response->container_responses[1],
				allocate_expect(rig, resource,
						(const char *const *)last.devices_ids, 1,
						"the second request alone", &alone));
	}
	kubelet_reply_free(&together);
	kubelet_reply_free(&alone);
}

static void allocate_several_requests(struct check_run *run)
{
	allocate_each(run, several_requests);
}

/* After something odd the plugin must still serve a healthy id. */
static void allocate_still_serves(struct rig *rig, const char *resource,
				  const struct text_list *ids)
{
	struct kubelet_reply reply = {0};

	(void)allocate_expect(rig, resource, (const char *const *)ids->items, 1,
			      "Allocate of a healthy device afterwards", &reply);
	kubelet_reply_free(&reply);
}

static void unknown_id(struct rig *rig, const char *resource, const struct text_list *ids)
{
	static const char *const unknown[] = {UNKNOWN_ID, "", "../../etc/passwd", "a\nb\"c%00"};

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		const V1beta1__AllocateResponse *response = NULL;
		struct kubelet_reply reply = {0};

		if (allocate_call(rig, resource, &unknown[i], 1, &reply, &response))
			(void)check_expect(rig->run, reply.code != RPC_OK,
					   "Allocate of an unknown id", "an error", "%s",
					   rpc_code_name(reply.code));
		kubelet_reply_free(&reply);
	}
	allocate_still_serves(rig, resource, ids);
}

static void allocate_unknown_id(struct check_run *run)
{
	allocate_each(run, unknown_id);
}

static void error_names_id(struct rig *rig, const char *resource, const struct text_list *ids)
{
	static const char *const unknown[] = {UNKNOWN_ID};
	const V1beta1__AllocateResponse *response = NULL;
	struct kubelet_reply reply = {0};

	(void)ids;
	if (allocate_call(rig, resource, unknown, 1, &reply, &response) &&
	    check_expect(rig->run, reply.code != RPC_OK, "Allocate of an unknown id", "an error",
			 "%s", rpc_code_name(reply.code)))
		(void)check_expect(rig->run, strstr(reply.message, UNKNOWN_ID) != NULL,
				   "grpc-message", "names " UNKNOWN_ID, "'%s'", reply.message);
	kubelet_reply_free(&reply);
}

static void allocate_error_names_id(struct check_run *run)
{
	allocate_each(run, error_names_id);
}

static void no_ids(struct rig *rig, const char *resource, const struct text_list *ids)
{
	const V1beta1__AllocateResponse *response = NULL;
	struct kubelet_reply reply = {0};

	if (allocate_call(rig, resource, NULL, 0, &reply, &response)) {
		bool gave = response != NULL && response->n_container_responses != 0 &&
			    (response->container_responses[0]->n_devices != 0 ||
			     response->container_responses[0]->n_mounts != 0);

		(void)check_expect(rig->run, !gave, "Allocate without ids",
				   "an error or an empty answer", "%s",
				   gave ? "devices or mounts" : rpc_code_name(reply.code));
	}
	kubelet_reply_free(&reply);
	allocate_still_serves(rig, resource, ids);
}

static void allocate_no_ids(struct check_run *run)
{
	allocate_each(run, no_ids);
}

struct registering {
	struct rig *rig;
	size_t from;
	const struct kubelet_registration *found; /* of a resource under test, and dialled */
};

static bool allocate_is_registering(void *user)
{
	struct registering *registering = user;
	struct rig *rig = registering->rig;

	for (size_t i = registering->from; i < kubelet_registration_count(rig->kubelet); i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);

		if (r->socket != NULL && text_list_has(&rig->resources, r->resource)) {
			registering->found = r;
			return true;
		}
	}
	return false;
}

/* Calls Allocate on the socket of a registration that is under way. */
static void allocate_on_socket(struct rig *rig, const struct kubelet_registration *r, char *id)
{
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	struct rpc_channel *channel = NULL;
	struct kubelet_reply reply = {0};
	struct error err = {0};
	int rc = kubelet_dial(&rig->loop, r->socket, RIG_CALL_MS, &channel, &err);

	container.devices_ids = &id;
	container.n_devices_ids = 1;
	request.container_requests = containers;
	request.n_container_requests = 1;
	if (rc == 0)
		rc = kubelet_call_on(channel, DEVICE_PLUGIN_SERVICE "Allocate", &request.base,
				     &v1beta1__allocate_response__descriptor, RIG_CALL_MS, &reply,
				     &err);
	if (check_expect_ok(rig->run, rc, "Allocate is answered", &err))
		(void)check_expect(rig->run, reply.code == RPC_OK,
				   "Allocate before any ListAndWatch", "OK", "%s %s",
				   rpc_code_name(reply.code), reply.message);
	kubelet_reply_free(&reply);
	rpc_channel_close(channel);
}

/* The kubelet opens ListAndWatch once it has answered Register; while it holds that answer back
 * there is no stream, and the ids are known from the plugin's run before. */
static void allocate_before_list(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct registering registering = {.rig = rig};
	struct error err = {0};
	uint64_t start = 0;

	if (rig == NULL)
		return;
	if (!rig_end_plugin(rig, SIGTERM, STOP_MS) ||
	    kubelet_fault_set(rig->kubelet, "register-delay=8000", &err) < 0) {
		check_broken(run, "the plugin did not end, or the fault was refused: %s", err.text);
		return;
	}
	registering.from = kubelet_registration_count(rig->kubelet);
	if (!rig_start_plugin(rig, NULL))
		return;
	start = clock_monotonic_ns();
	int rc = kubelet_wait(rig->kubelet, allocate_is_registering, &registering, RIG_REGISTER_MS,
			      "a Register call", &err);

	rig_waited(rig, start);
	if (!check_expect_ok(run, rc, "the plugin tries to register", &err))
		return;
	if (rig_healthy_ids(rig, registering.found->resource, &ids))
		allocate_on_socket(rig, registering.found, ids.items[0]);
}

static bool allocate_path_is_sound(const char *path)
{
	return path_is_absolute(path) && strstr(path, "/../") == NULL &&
	       !text_ends_with(path, "/..");
}

static void paths_exist(struct rig *rig, const char *resource, const struct text_list *ids)
{
	for (size_t i = 0; i < ids->count; i++) {
		struct kubelet_reply reply = {0};
		const V1beta1__ContainerAllocateResponse *response =
			allocate_expect(rig, resource, (const char *const *)&ids->items[i], 1,
					ids->items[i], &reply);

		for (size_t j = 0; response != NULL && j < response->n_mounts; j++) {
			const char *path = response->mounts[j]->host_path;
			struct stat status = {0};
			bool there = allocate_path_is_sound(path) && stat(path, &status) == 0;

			(void)check_expect(rig->run, there, "mounts[].host_path",
					   "absolute and present", "%s%s", path,
					   there ? "" : " (missing)");
		}
		for (size_t j = 0; response != NULL && j < response->n_devices; j++) {
			const char *path = response->devices[j]->host_path;
			struct stat status = {0};
			bool node = allocate_path_is_sound(path) && stat(path, &status) == 0 &&
				    (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));

			(void)check_expect(rig->run, node, "devices[].host_path", "a device node",
					   "%s%s", path,
					   node ? "" : " (missing or no device node)");
		}
		kubelet_reply_free(&reply);
	}
}

static void allocate_paths_exist(struct check_run *run)
{
	allocate_each(run, paths_exist);
}

static void allocate_expect_unique(struct rig *rig, const char *what, struct text_list *paths,
				   const char *path)
{
	(void)check_expect(rig->run, !text_list_has(paths, path), what, "used once", "%s", path);
	if (text_list_add(paths, path, NULL) < 0)
		check_broken(rig->run, "out of memory");
}

static void unique_paths(struct rig *rig, const char *resource, const struct text_list *ids)
{
	size_t count = ids->count < TOGETHER_MAX ? ids->count : TOGETHER_MAX;
	struct text_list mounts CLEANUP_TEXT_LIST = {0};
	struct text_list nodes CLEANUP_TEXT_LIST = {0};
	struct kubelet_reply reply = {0};
	const V1beta1__ContainerAllocateResponse *response =
		allocate_expect(rig, resource, (const char *const *)ids->items, count,
				"all devices together", &reply);

	for (size_t i = 0; response != NULL && i < response->n_mounts; i++)
		allocate_expect_unique(rig, "mounts[].container_path", &mounts,
				       response->mounts[i]->container_path);
	/* Windows devices have no path in the container: containerd demands an empty one. */
	for (size_t i = 0; response != NULL && !rig_is_windows(rig) && i < response->n_devices; i++)
		allocate_expect_unique(rig, "devices[].container_path", &nodes,
				       response->devices[i]->container_path);
	kubelet_reply_free(&reply);
}

static void allocate_unique_paths(struct check_run *run)
{
	allocate_each(run, unique_paths);
}

static bool allocate_is_dangerous(const char *path)
{
	static const char *const whole[] = {"/",     "/etc",  "/proc", "/sys", "/dev",
					    "/usr",  "/lib",  "/bin",  "/var", "/run",
					    "/home", "/root", "/boot"};
	static const char *const inside[] = {"/run/containerd", "/var/run/docker.sock",
					     "/var/lib/kubelet", "/proc"};
	char *clean CLEANUP_FREE = path_normalize(path);

	for (size_t i = 0; clean != NULL && i < ARRAY_SIZE(whole); i++) {
		if (strcmp(clean, whole[i]) == 0)
			return true;
	}
	for (size_t i = 0; clean != NULL && i < ARRAY_SIZE(inside); i++) {
		if (path_is_within(clean, inside[i]))
			return true;
	}
	return clean == NULL;
}

static void read_only(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct kubelet_reply reply = {0};
	const V1beta1__ContainerAllocateResponse *response =
		allocate_expect(rig, resource, (const char *const *)ids->items, 1,
				"Allocate of one device", &reply);

	for (size_t i = 0; response != NULL && i < response->n_mounts; i++) {
		const V1beta1__Mount *mount = response->mounts[i];

		(void)check_expect(rig->run, mount->read_only, "mounts[].read_only", "true",
				   "%s: %s", mount->container_path,
				   mount->read_only ? "true" : "false");
		(void)check_expect(rig->run,
				   !allocate_is_dangerous(mount->container_path) &&
					   !allocate_is_dangerous(mount->host_path),
				   "mounts[]", "harmless paths", "%s on %s", mount->host_path,
				   mount->container_path);
	}
	kubelet_reply_free(&reply);
}

static void allocate_read_only(struct check_run *run)
{
	allocate_each(run, read_only);
}

#define ALLOCATE_CHECK(name, body)                                                                 \
	.id = "allocate." name, .revision = 1, .timeout_s = 90, .run = (body),                     \
	.needs = {.devices = 1}

static const struct check checks[] = {
	{
		ALLOCATE_CHECK("one-response", allocate_one_response),
		.title = "One container request is answered by one container response",
		.advice = "Return one ContainerAllocateResponse for each container request.",
		.requirement = CHECK_ALC_01,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("prompt", allocate_prompt),
		.title = "Allocate of a healthy device succeeds within five seconds",
		.advice = "Prepare what is slow beforehand: the kubelet admits one pod at a time "
			  "and has "
			  "no deadline here.",
		.requirement = CHECK_ALC_02,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("each-and-all", allocate_each_and_all),
		.title = "Each device and all devices together can be allocated",
		.advice =
			"See which id is refused; a healthy id that is listed must be allocatable.",
		.requirement = CHECK_ALC_03,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("several-requests", allocate_several_requests),
		.title = "Several container requests are answered one by one, in order",
		.advice = "Answer container_requests[i] with container_responses[i].",
		.requirement = CHECK_ALC_04,
		.severity = CHECK_MEDIUM,
	},
	{
		ALLOCATE_CHECK("order", allocate_order),
		.title = "The order of ids does not change the answer",
		.advice = "Sort the ids, or treat them as a set: the kubelet's order is random.",
		.requirement = CHECK_ALC_05,
		.severity = CHECK_HIGH,
	},
	{
		ALLOCATE_CHECK("repeat", allocate_repeat),
		.title = "A device can be allocated again, with the same answer",
		.advice = "Keep no record of what is allocated: there is no call that gives a "
			  "device back.",
		.requirement = CHECK_ALC_06,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("unknown-id", allocate_unknown_id),
		.title = "Allocate of an unknown id is refused, and harms nothing",
		.advice = "Look each id up in the list that was sent, and answer with an error "
			  "status.",
		.requirement = CHECK_ALC_07,
		.severity = CHECK_HIGH,
	},
	{
		ALLOCATE_CHECK("error-names-id", allocate_error_names_id),
		.title = "The error of a refused Allocate names the id",
		.advice = "Put the id into the status message: it is all that the pod's owner gets "
			  "to see.",
		.requirement = CHECK_ALC_13,
		.severity = CHECK_LOW,
	},
	{
		ALLOCATE_CHECK("no-ids", allocate_no_ids),
		.title = "Allocate without ids does no harm",
		.advice = "Answer with an error or with nothing; never with a device.",
		.requirement = CHECK_ALC_09,
		.severity = CHECK_MEDIUM,
	},
	{
		.id = "allocate.before-list",
		.revision = 1,
		.timeout_s = 120,
		.run = allocate_before_list,
		.needs = {.devices = 1, .own_plugin = true},
		.title = "Allocate works before any ListAndWatch stream is open",
		.advice = "Build the device table at start, not when the first stream opens.",
		.requirement = CHECK_ALC_12,
		.severity = CHECK_MEDIUM,
	},
	{
		.id = "allocate.paths-exist",
		.revision = 1,
		.timeout_s = 90,
		.run = allocate_paths_exist,
		.needs = {.devices = 1, .live_node = true},
		.title = "Mount sources and device nodes in an answer exist",
		.advice =
			"Check each path before answering: the container runtime creates an empty "
			"directory where a mount source is missing.",
		.requirement = CHECK_ALC_15,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("unique-paths", allocate_unique_paths),
		.title = "Container paths within an answer are unique",
		.advice = "Merge what several devices share: of equal container paths only the "
			  "first counts.",
		.requirement = CHECK_ALC_16,
		.severity = CHECK_HIGH,
	},
	{
		ALLOCATE_CHECK("read-only", allocate_read_only),
		.title = "Driver files are mounted read-only, on harmless destinations",
		.advice = "Set read_only; mount files, not whole system directories.",
		.requirement = CHECK_ALC_18,
		.severity = CHECK_MEDIUM,
	},
	{.id = NULL},
};

const struct check_suite suite_allocate = {
	.name = "allocate",
	.title = "Allocate",
	.checks = checks,
};
