/* SPDX-License-Identifier: MIT */
/* Allocate: the grants of the plugin, and its answers to requests that it cannot serve. */
#include "conformance/checks/allocate.h"

#include "base/clock.h"
#include "base/memory.h"
#include "conformance/checks/suites.h"

#include <signal.h>
#include <string.h>

enum {
	STREAM_MS = 300, /* within which a call ends a stream, if it does */
	PROMPT_IDS = 4,
	REPEATS = 20,
	ORDERED_MAX = 64, /* ids in one call */
	KNOWN_MS = 5000,  /* after Register, until the plugin knows its devices without a stream */
	KNOWN_PAUSE_MS = 250,
	START_PAUSE_MS = 1000,
};

static void one_response(struct rig *rig, const struct rig_item *item)
{
	(void)allocate_expect_first(rig, item, "Allocate of one device");
}

static void prompt(struct rig *rig, const struct rig_item *item)
{
	/* Asks for some ids, each twice: first calls, or second ones, may take longer. */
	uint64_t longest_ms = 0;
	for (size_t i = 0; i < item->ids->count && i < PROMPT_IDS; i++) {
		for (size_t again = 0; again < 2; again++) {
			struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
			const char *const *id = (const char *const *)&item->ids->items[i];
			if (allocate_expect(rig, item->resource, id, 1, *id, &reply) == NULL)
				return;
			if (reply.duration_ms > longest_ms)
				longest_ms = reply.duration_ms;
		}
	}
	(void)check_expect_in_time(rig->run, "milliseconds", longest_ms);
}

/* The same id again stands for the same device nodes. */
static void ask_again(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct allocate_difference difference = {0};
	const V1beta1__ContainerAllocateResponse *again =
		allocate_expect(rig, item->resource, &item->id, 1, item->id, &reply);
	if (again != NULL && allocate_differ(ALLOCATE_GRANTED, item->answer, again, &difference) &&
	    difference.is_device)
		(void)check_expect(rig->run, false,
				   check_format(rig->run, "%s asked for again", item->id),
				   difference.first, "%s", difference.second);
}

static void each_and_all(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	allocate_for_each(rig, item, ask_again);
	(void)allocate_together(rig, item, &reply);
}

/* Compares what the same ids get in order, in order again, and in reverse order. False: the
 * plugin did not answer for so many at once. */
static bool compare_orders(struct rig *rig, const struct rig_item *item, size_t count)
{
	static const char *const names[] = {"ids in order", "the same ids again",
					    "ids in reverse order"};
	const char *const *ids = rig_ids(item->ids);
	const char *backwards[ORDERED_MAX] = {NULL};
	for (size_t i = 0; i < count; i++)
		backwards[i] = ids[count - 1 - i];

	struct rpc_answer first CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerAllocateResponse *wanted =
		allocate_expect(rig, item->resource, ids, count, names[0], &first);
	for (size_t i = 1; wanted != NULL && i < ARRAY_SIZE(names); i++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		const V1beta1__ContainerAllocateResponse *answer = allocate_expect(
			rig, item->resource, i == 1 ? ids : backwards, count, names[i], &reply);
		(void)allocate_expect_same(rig, names[i], ALLOCATE_SHAPE, wanted, answer);
	}
	return wanted != NULL;
}

static void order(struct rig *rig, const struct rig_item *item)
{
	size_t count = item->ids->count < ORDERED_MAX ? item->ids->count : ORDERED_MAX;
	if (!compare_orders(rig, item, count) && count > 1)
		(void)compare_orders(rig, item, 1);
}

static void repeat(struct rig *rig, const struct rig_item *item)
{
	const char *const *ids = rig_ids(item->ids);
	struct rpc_answer first CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer before CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerAllocateResponse *wanted =
		allocate_expect(rig, item->resource, ids, 1, "the first Allocate", &first);
	if (wanted == NULL)
		return;

	size_t changed = 0;  /* answers that differ from the first */
	size_t returned = 0; /* later ones that equal the first, or the one before */
	struct allocate_difference shown = {0}; /* the first one, or one in a device node */
	for (size_t i = 1; i < REPEATS; i++) {
		struct rpc_answer reply = {0};
		struct allocate_difference difference = {0};
		struct allocate_difference unused = {0};
		const V1beta1__ContainerAllocateResponse *last = rig_first_response(&before);
		const V1beta1__ContainerAllocateResponse *answer = allocate_expect(
			rig, item->resource, ids, 1, "Allocate of the same id again", &reply);
		if (answer == NULL) {
			rpc_answer_free(&reply);
			return;
		}
		bool differs = allocate_differ(ALLOCATE_GRANTED, wanted, answer, &difference);
		bool is_new =
			last == NULL || allocate_differ(ALLOCATE_GRANTED, last, answer, &unused);
		returned += changed != 0 && (!differs || !is_new);
		changed += differs;
		if (differs && (!shown.found || (difference.is_device && !shown.is_device)))
			shown = difference;
		rpc_answer_free(&before);
		before = reply;
	}

	/* Names that are made up for each container, such as a token in a file's name, differ in
	 * every answer. Any other change is another device or file under the same id. */
	bool made_up = !shown.is_device && returned == 0 && changed == REPEATS - 1;
	if (changed == 0 || made_up)
		(void)check_expect(rig->run, true, "what the id hands out", "the same each time",
				   "the same in %d answers", REPEATS);
	else
		(void)check_expect(rig->run, false, "what the id hands out", shown.first, "%s",
				   shown.second);
	if (made_up)
		check_note(rig->run, "each answer has its own %s", shown.second);
}

/* Several container requests in one call, each for one id. */
static void several_requests(struct rig *rig, const struct rig_item *item)
{
	const char *const *ids = rig_ids(item->ids);
	const char *const *last = &ids[item->ids->count - 1];
	struct kubelet_allocate_request request = {0};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	kubelet_allocate_request_add(&request, ids, 1);
	kubelet_allocate_request_add(&request, last, 1);
	int rc = rig_call(rig, item->resource, &kubelet_method_allocate, &request.request.base,
			  &reply, &err);
	const V1beta1__AllocateResponse *response = (const V1beta1__AllocateResponse *)reply.reply;
	if (!rig_expect_answer(rig, rc, "two container requests", &reply, &err) ||
	    !check_expect_int(rig->run, "container responses",
			      (long long)response->n_container_responses, 2))
		return;

	/* The second response must equal the one to its request in a separate call; if that one
	 * differs each time, only devices and files are compared. */
	struct rpc_answer first CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer second CLEANUP_RPC_ANSWER = {0};
	struct allocate_difference difference = {0};
	const char *what = "the second request by itself";
	const V1beta1__ContainerAllocateResponse *alone =
		allocate_expect(rig, item->resource, last, 1, what, &first);
	const V1beta1__ContainerAllocateResponse *again =
		allocate_expect(rig, item->resource, last, 1, what, &second);
	bool differ = alone != NULL && again != NULL &&
		      allocate_differ(ALLOCATE_ALL, alone, again, &difference);
	if (differ && allocate_differ(ALLOCATE_GRANTED, alone, again, &difference))
		check_note(rig->run, "answers differ each time: their order is unknown");
	else
		(void)allocate_expect_same(rig, "second container response",
					   differ ? ALLOCATE_GRANTED : ALLOCATE_ALL,
					   response->container_responses[1], alone);
}

/* False: no answer, so nothing more can be asked. */
static bool expect_refused(struct rig *rig, const struct rig_item *item, const char *what,
			   const char *const *ids, size_t count)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	if (!check_expect_ok(rig->run, rig_allocate(rig, item->resource, ids, count, &reply, &err),
			     "Allocate is answered", &err))
		return false;
	(void)check_expect(rig->run, reply.code != RPC_OK, what, "an error", "%s",
			   rpc_code_name(reply.code));
	return true;
}

/* Ids that resemble a listed one, and are not listed themselves. */
static void almost_known(struct rig *rig, const struct rig_item *item)
{
	const char *known = item->ids->items[0];
	char *longer CLEANUP_FREE = text_format("%sx", known);
	char *upper CLEANUP_FREE = memory_copy(known);
	for (char *c = upper; *c != '\0'; c++) {
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	}
	const char *const made[] = {longer, upper};
	array_each (id, made) {
		/* Windows names are case-insensitive. */
		if (kubelet_resource_device(rig->kubelet, item->resource, *id) != NULL ||
		    strcmp(*id, known) == 0 || (*id == upper && rig_is_windows(rig)))
			continue;
		if (!expect_refused(rig, item,
				    check_format(rig->run, "Allocate of %s, where %s is listed",
						 *id, known),
				    id, 1))
			return;
	}
	const char *const mixed[] = {known, RIG_UNKNOWN_ID};
	(void)expect_refused(rig, item, "Allocate of a known and an unknown id", mixed,
			     ARRAY_SIZE(mixed));
}

static void unknown_id(struct rig *rig, const struct rig_item *item)
{
	static const char *const unknown[] = {RIG_UNKNOWN_ID, "", "../../etc/passwd", "a\nb\"c%00"};
	array_each (id, unknown) {
		if (!expect_refused(rig, item, "Allocate of an unknown id", id, 1))
			return;
	}
	almost_known(rig, item);
	allocate_expect_serves(rig, item);
	/* A resource without a stream has no devices until the plugin registers again. */
	const size_t from = kubelet_registration_count(rig->kubelet);
	if (rig_stream(rig, item->resource) == NULL)
		return;
	(void)rig_watch(rig, STREAM_MS, STREAM_MS);
	const struct kubelet_stream *stream = rig_stream(rig, item->resource);
	if (kubelet_registration_count(rig->kubelet) == from)
		(void)check_expect_is(rig->run, kubelet_stream_state(stream).open,
				      "the stream of lists afterwards", "open", "ended");
}

static void error_names_id(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const char *id = RIG_UNKNOWN_ID;
	if (!allocate_expect_answered(rig, item->resource, &id, 1, &reply))
		return;
	if (reply.code == RPC_OK)
		check_not_applicable(rig->run,
				     "an unknown id is not refused; see allocate.unknown-id");
	else
		(void)check_expect(rig->run, strstr(reply.message, RIG_UNKNOWN_ID) != NULL,
				   "grpc-message", "names " RIG_UNKNOWN_ID, "'%s'", reply.message);
}

/* The parts of every answer, such as a driver's control node, may be granted without an id, too. */
static void no_ids(struct rig *rig, const struct rig_item *item)
{
	const char *ids[] = {NULL, item->ids->items[0], item->ids->items[item->ids->count - 1]};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (!allocate_expect_answered(rig, item->resource, ids, 0, &reply))
		return;
	const V1beta1__ContainerAllocateResponse *none = rig_first_response(&reply);
	for (size_t i = 1; i < ARRAY_SIZE(ids); i++) {
		struct rpc_answer next CLEANUP_RPC_ANSWER = {0};
		struct allocate_difference more = {0};
		const V1beta1__ContainerAllocateResponse *one =
			allocate_expect(rig, item->resource, &ids[i], 1,
					"Allocate of a healthy device afterwards", &next);
		if (one == NULL)
			return;
		(void)check_expect(rig->run,
				   none == NULL ||
					   !allocate_differ(ALLOCATE_ADDED, none, one, &more),
				   "Allocate without ids", "an error, or only what each id gets",
				   "%s", more.found ? more.first : rpc_code_name(reply.code));
	}
}

struct registering {
	struct rig *rig;
	size_t from;
	const char *resource;
	const struct kubelet_registration *found; /* of the resource, and dialled */
};

static bool is_registering(void *user)
{
	struct registering *registering = user;
	struct rig *rig = registering->rig;
	registration_each (r, rig->kubelet, registering->from) {
		if (r->socket != NULL && text_equal(r->resource, registering->resource)) {
			registering->found = r;
			return true;
		}
	}
	return false;
}

/* The kubelet opens ListAndWatch once it has answered Register; while it holds that answer back
 * there is no stream, and the ids are known from the plugin's previous run. */
static void before_list(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig == NULL)
		return;

	/* The resource under test that registered first. */
	const char *resource = NULL;
	registration_each (r, rig->kubelet, rig->first_registration) {
		if (resource == NULL && r->resource != NULL &&
		    text_list_has(&rig->resources, r->resource))
			resource = r->resource;
	}
	resource = check_format(run, "%s", resource != NULL ? resource : rig->resources.items[0]);

	struct registering registering = {.rig = rig, .resource = resource};
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct rpc_answer known CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	if (!rig_healthy_ids(rig, registering.resource, &ids) ||
	    allocate_expect(rig, registering.resource, rig_ids(&ids), 1, "Allocate of one device",
			    &known) == NULL ||
	    !rig_stop_plugin(rig, SIGTERM) || !rig_set_fault(rig, "register-delay=8000"))
		return;
	/* No supervisor starts it in the same second, which may be part of its socket's name. */
	loop_run_for(&rig->loop, START_PAUSE_MS);
	if (!rig_start_plugin(rig))
		return;
	registering.from = rig->first_registration;
	int rc = rig_wait(rig, is_registering, &registering, rig_wait_ms(rig, CHECK_REG_01),
			  "a Register call", &err);
	if (rc < 0) {
		check_unsupported(run, "the plugin was started again, and did not register: %s",
				  err.text);
		return;
	}

	/* The answer on the socket of that registration is the one that the id got while a stream was
	 * open. */
	const struct kubelet_registration *r = registering.found;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	/* Its devices may take a moment to find. */
	const uint64_t end_ms = clock_monotonic_ms() + context_limit_ms(rig->context, KNOWN_MS);
	while (rc == 0) {
		rpc_answer_free(&reply);
		rc = allocate_on_socket(rig, r->socket, ids.items[0], &reply, &err);
		if (rc < 0 || reply.code == RPC_OK || clock_monotonic_ms() >= end_ms)
			break;
		loop_run_for(&rig->loop, KNOWN_PAUSE_MS);
	}

	bool before = kubelet_plugin_stream(r->plugin) == NULL;
	if (check_expect_ok(run, rc, "Allocate is answered", &err) &&
	    check_expect(run, reply.code == RPC_OK, "Allocate before any ListAndWatch", "OK",
			 "%s %s", rpc_code_name(reply.code), reply.message) &&
	    check_expect_is(run, before, "Allocate is answered", "before ListAndWatch is opened",
			    "after ListAndWatch was opened"))
		(void)allocate_expect_same(
			rig, "Allocate before any ListAndWatch, compared with later",
			ALLOCATE_GRANTED, rig_first_response(&known), rig_first_response(&reply));
}

#define ALLOCATE(name, rule, severity, revision, body, ...)                                        \
	CHECK("allocate." name, rule, severity, revision, rig_each_resource, .timeout_s = 180,     \
	      .depends_on = "allocate.one-response", .judge = (body), __VA_ARGS__)

/* A row with a body of its own. */
#define ALLOCATE_BODY(name, rule, severity, revision, body, ...)                                   \
	CHECK("allocate." name, rule, severity, revision, body, .timeout_s = 180,                  \
	      .needs.devices = 1, .depends_on = "allocate.one-response", __VA_ARGS__)

#define ALLOCATE_CDI(name, rule, severity, revision, judging, ...)                                 \
	ALLOCATE_BODY("cdi-" name, rule, severity, revision, allocate_cdi, .param = &(judging),    \
		      .needs.os = "linux", .needs.live_node = true, __VA_ARGS__)

const struct check allocate_checks[] = {
	CHECK("allocate.one-response", ALC_01, CRITICAL, 1, rig_each_resource,
	      .title = "Each container request gets a container response",
	      .advice = "Return one ContainerAllocateResponse for each container request: without "
			"one the pod fails.",
	      .timeout_s = 180, .needs = {.devices = 1}, .depends_on = "list-and-watch.arrives",
	      .judge = one_response),
	ALLOCATE("prompt", ALC_02, CRITICAL, 1, prompt,
		 .title = "Allocate of a healthy device is prompt",
		 .advice = "Do slow work in advance: the kubelet admits one pod at a time and has "
			   "no deadline here."),
	ALLOCATE("each-and-all", ALC_03, CRITICAL, 1, each_and_all,
		 .title = "Each device and all devices together can be allocated",
		 .advice = "Make every listed healthy id allocatable; the reason names the refused "
			   "one. Only replicas of one device may be refused together."),
	ALLOCATE("several-requests", ALC_04, MEDIUM, 1, several_requests,
		 .title = "Several container requests get one response each, in order",
		 .advice = "Answer container_requests[i] with container_responses[i]."),
	ALLOCATE(
		"order", ALC_05, HIGH, 2, order,
		.title = "The same ids get the same devices and names, in any order",
		.advice =
			"Make the answer from all ids of the request, sorted: the kubelet's order is "
			"random."),
	ALLOCATE("repeat", ALC_06, CRITICAL, 1, repeat,
		 .title = "An allocated device can be allocated again",
		 .advice = "Do not record allocations: no call returns a device. Give "
			   "each request for an id the same devices, files and permissions."),
	ALLOCATE("unknown-id", ALC_07, HIGH, 2, unknown_id,
		 .title = "Allocate of an unknown id is refused without harm",
		 .advice = "Look each id up in the list that was sent, and answer with an error "
			   "status."),
	ALLOCATE("error-names-id", ALC_13, LOW, 1, error_names_id,
		 .title = "The error of a refused Allocate names the id",
		 .advice = "Put the id into the status message: the pod's owner sees nothing "
			   "else."),
	ALLOCATE("no-ids", ALC_09, MEDIUM, 2, no_ids, .title = "Allocate without ids does no harm",
		 .advice = "Answer with an error, or with no more than what every id gets."),
	ALLOCATE_BODY("before-list", ALC_12, MEDIUM, 1, before_list,
		      .title = "Allocate works before any ListAndWatch stream is open",
		      .advice = "Build the device table at start, not when the first stream opens.",
		      .needs.own_plugin = true),
	ALLOCATE("paths-exist", ALC_15, CRITICAL, 3, allocate_paths_exist,
		 .title = "Mount sources and device nodes in an answer exist",
		 .advice = "Check each path before answering: the container runtime creates an "
			   "empty directory where a mount source is missing.",
		 .needs = {.devices = 1, .live_node = true}),
	ALLOCATE("unique-paths", ALC_16, HIGH, 2, allocate_unique_paths,
		 .title = "Entries with the same container path are equal",
		 .advice = "Merge the entries that several devices share: of equal container paths "
			   "the first counts, and of two spellings of one the last."),
	ALLOCATE("read-only", ALC_18, MEDIUM, 4, allocate_read_only,
		 .title = "Driver files are mounted read-only, not over system folders",
		 .advice = "Set read_only, in CDI Specs the option \"ro\"; mount files, not "
			   "whole system directories."),
	ALLOCATE("duplicate-id", ALC_10, LOW, 1, allocate_duplicate_id,
		 .title = "Allocate of one id twice does no harm",
		 .advice = "Treat the ids as a set: answer as for one, or with an error."),
	ALLOCATE("no-requests", ALC_11, LOW, 1, allocate_no_requests,
		 .title = "Allocate without container requests does no harm",
		 .advice = "Answer with no container response, or with an error: do not read the "
			   "first request without checking that one exists."),
	ALLOCATE_BODY(
		"unhealthy-id", ALC_08, MEDIUM, 2, allocate_unhealthy_id,
		.title = "Allocate of an unhealthy device is refused",
		.advice = "Check the device's health before you answer: the kubelet's view may be "
			  "older."),
	ALLOCATE_BODY("after-restart", ALC_14, HIGH, 2, allocate_after_restart,
		      .title = "An id means the same device after the plugin restarts",
		      .advice =
			      "Derive ids from the device, not from the order of enumeration, and "
			      "answers from ids: running containers keep what an id meant before.",
		      .needs.own_plugin = true),
	ALLOCATE_BODY(
		"one-device", ALC_35, HIGH, 1, allocate_one_device,
		.title = "The answer for one id hands out one device of the node",
		.advice = "Hand out the nodes of the id's own device, and of the driver where all "
			  "devices share them: a container can use whatever it is given."),
	ALLOCATE("independent", ALC_32, HIGH, 5, allocate_independent,
		 .title = "Answers for one id and for several do not depend on earlier calls",
		 .advice =
			 "Build each answer from the ids of its own request, all of them: keep no "
			 "lists from call to call. An empty one leaves the container without the "
			 "device, unless the runtime has a plugin that adds it."),
	ALLOCATE_BODY(
		"lists-stay", ALC_33, HIGH, 2, allocate_lists_stay,
		.title = "Allocate and GetPreferredAllocation leave devices listed and healthy",
		.advice =
			"Report health only: the kubelet knows which devices it has allocated, and "
			"takes an unhealthy one for broken."),
	ALLOCATE("parallel", ALC_25, HIGH, 2, allocate_parallel,
		 .title = "Concurrent calls are answered, each for its own id",
		 .advice = "Keep a call's state out of variables that calls share, or lock them."),
	ALLOCATE("cancelled", ALC_26, MEDIUM, 2, allocate_cancelled,
		 .title = "Cancelled calls leave the plugin usable",
		 .advice = "Stop when the call's context ends, and release its locks."),
	ALLOCATE("answer-size", ALC_27, MEDIUM, 1, allocate_size,
		 .title = "Answers fit into the kubelet's checkpoint",
		 .advice = "Mount folders in place of thousands of files, or name CDI devices: the "
			   "kubelet writes all answers to disk at each admission."),
	ALLOCATE_BODY(
		"files-stay", ALC_28, HIGH, 2, allocate_files_stay,
		.title = "Mounted files stay while the container may start again",
		.advice = "Do not remove files that an earlier answer mounts: the kubelet applies "
			  "an answer at each start of the container.",
		.needs.live_node = true),
	ALLOCATE("variable-names", ALC_21, HIGH, 3, allocate_tally,
		 .param = &allocate_variable_names,
		 .title = "Variables have sound names, no NUL, and fit into execve",
		 .advice = "Correct the variable: otherwise the container does not start, or gets "
			   "another one."),
	ALLOCATE("harmless-variables", ALC_21S, MEDIUM, 2, allocate_tally,
		 .param = &allocate_harmless_variables,
		 .title = "Variables change neither the image's programs nor its dynamic linker",
		 .advice = "Set only variables that the driver reads, also in CDI Specs; mount "
			   "libraries where the loader finds them."),
	ALLOCATE(
		"permissions", ALC_19, CRITICAL, 3, allocate_tally, .param = &allocate_permissions,
		.title = "Device nodes have permissions of r, w and m",
		.advice =
			"Set permissions to \"rw\": without r and w the node cannot be opened, and "
			"other letters are unknown.",
		.needs = {.os = "linux", .devices = 1}),
	ALLOCATE("cdi-names", ALC_23, CRITICAL, 1, allocate_tally, .param = &allocate_cdi_names,
		 .title = "CDI devices of answers have qualified names",
		 .advice =
			 "Name CDI devices vendor/class=name, in annotations separated by commas: "
			 "a runtime refuses the container otherwise.",
		 .needs = {.os = "linux", .devices = 1}),
	ALLOCATE_BODY("across-resources", ALC_34, HIGH, 1, allocate_across_resources,
		      .title = "A container gets all that its resources' answers hold",
		      .advice =
			      "Put the resource's name into the names of variables and the keys of "
			      "annotations: of entries with one name the kubelet keeps the first."),
	ALLOCATE_CDI(
		"resolves", ALC_22, CRITICAL, 1, allocate_cdi_resolves,
		.title = "CDI devices in answers are in valid Specs of the node",
		.advice = "Write the Spec before you answer, as *.json or *.yaml directly in one "
			  "of the runtime's folders; gen-device-mounts --for cdi --check "
			  "reports what is wrong with it."),
	ALLOCATE_CDI("specs", ALC_22S, MEDIUM, 2, allocate_cdi_specs,
		     .title = "CDI Specs of the kinds that answers name are valid",
		     .advice = "Repair or remove the file: a runtime ignores it with all of its "
			       "devices. Give it the mode 0644: its mounts and hooks are root's."),
	ALLOCATE_CDI("files", ALC_29, CRITICAL, 1, allocate_cdi_files,
		     .title = "Mount sources and device nodes in CDI edits exist",
		     .advice = "Write the Spec again when drivers change: a container with a mount "
			       "source that is missing does not start."),
	ALLOCATE_CDI("agrees", ALC_30, HIGH, 1, allocate_cdi_agrees,
		     .title = "CDI edits contradict neither each other nor the answer",
		     .advice =
			     "Set each path and each variable once, in the Spec or in the answer: "
			     "which of two wins depends on the runtime."),
	ALLOCATE_CDI("once", ALC_24, LOW, 1, allocate_cdi_once,
		     .title = "No device node is handed out by the answer and by CDI",
		     .advice = "Hand a device out one way: a runtime that knows CDI applies both, "
			       "and permissions or owners of the second one replace the first's."),
	ALLOCATE_CDI("one-device", ALC_31, CRITICAL, 1, allocate_cdi_one_device,
		     .title = "The CDI devices for one id add no second device",
		     .advice = "Put a device's nodes and drivers into its own edits: edits of the "
			       "whole Spec apply to every container."),
	{.id = NULL},
};
