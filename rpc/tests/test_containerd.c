/* SPDX-License-Identifier: MIT */
/* The client against a real grpc-go server: containerd with root, state and socket of its own.
 * Skipped without root or containerd. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "rpc/client.h"
#include "rpc/loop.h"
#include "rpc/proto/cri_v1.pb-c.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, PATIENCE_MS = 300000, RETRY_MS = 20 };

static uv_loop_t loop;
static char *directory;
static char *address;
static struct process *containerd;
static struct rpc_channel *channel;

static int write_configuration(char **path, struct error *err)
{
	struct text text CLEANUP_TEXT = {0};
	text_addf(&text,
		  "version = 2\nroot = \"%s/root\"\nstate = \"%s/state\"\n"
		  "[grpc]\naddress = \"%s/containerd.sock\"\n"
		  "[ttrpc]\naddress = \"%s/containerd.sock.ttrpc\"\n",
		  directory, directory, directory, directory);
	*path = text_format("%s/config.toml", directory);
	if (*path == NULL || text.failed)
		return error_memory(err);
	return file_write_atomic(*path, text.data, text.size, 0600, err);
}

static int start_containerd(struct error *err)
{
	char *configuration CLEANUP_FREE = NULL;
	int rc = file_make_temporary("/tmp", "rpc-containerd-", &directory, err);
	if (rc == 0)
		rc = write_configuration(&configuration, err);
	if (rc < 0)
		return rc;
	address = text_format("unix://%s/containerd.sock", directory);
	return process_start(&loop,
			     &(struct process_spec){
				     .argv = (const char *const[]){"containerd", "--config",
								   configuration, NULL},
			     },
			     &containerd, err);
}

/* containerd needs a moment to listen: a refused connection is tried again. */
static int connect_to_containerd(struct error *err)
{
	int rc = ERROR_UNAVAILABLE;
	for (int i = 0; i < PATIENCE_MS / RETRY_MS && rc == ERROR_UNAVAILABLE; i++) {
		rpc_channel_close(channel);
		channel = NULL;
		rc = rpc_channel_open(&loop, address, NULL, &channel, err);
		if (rc == 0)
			rc = rpc_channel_connect_wait(channel, PATIENCE_MS, err);
		if (rc == ERROR_UNAVAILABLE)
			loop_run_for(&loop, RETRY_MS);
		if (process_has_ended(containerd))
			break;
	}
	return rc;
}

static ProtobufCMessage *call(const char *method, const ProtobufCMessage *request,
			      const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *reply = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(
		rpc_unary_wait(channel, method, request, type, PATIENCE_MS, &reply, &err), 0);
	return reply;
}

static void test_version(void)
{
	Runtime__V1__VersionRequest request;
	runtime__v1__version_request__init(&request);
	Runtime__V1__VersionResponse *reply = (Runtime__V1__VersionResponse *)call(
		"/runtime.v1.RuntimeService/Version", &request.base,
		&runtime__v1__version_response__descriptor);
	CU_ASSERT_STRING_EQUAL(reply->runtime_name, "containerd");
	CU_ASSERT_STRING_EQUAL(reply->runtime_api_version, "v1");
	runtime__v1__version_response__free_unpacked(reply, NULL);
}

static void test_status(void)
{
	Runtime__V1__StatusRequest request = RUNTIME__V1__STATUS_REQUEST__INIT;
	bool ready = false;
	request.verbose = 1;
	Runtime__V1__StatusResponse *reply = (Runtime__V1__StatusResponse *)call(
		"/runtime.v1.RuntimeService/Status", &request.base,
		&runtime__v1__status_response__descriptor);
	if (reply->status == NULL)
		abort();
	for (size_t i = 0; i < reply->status->n_conditions; i++)
		ready = ready || (strcmp(reply->status->conditions[i]->type, "RuntimeReady") == 0 &&
				  reply->status->conditions[i]->status);
	CU_ASSERT(ready);
	CU_ASSERT(reply->n_info > 0);
	runtime__v1__status_response__free_unpacked(reply, NULL);
}

static void test_list_images(void)
{
	Runtime__V1__ListImagesRequest request = RUNTIME__V1__LIST_IMAGES_REQUEST__INIT;
	Runtime__V1__ListImagesResponse *reply = (Runtime__V1__ListImagesResponse *)call(
		"/runtime.v1.ImageService/ListImages", &request.base,
		&runtime__v1__list_images_response__descriptor);
	CU_ASSERT_EQUAL(reply->n_images, 0);
	runtime__v1__list_images_response__free_unpacked(reply, NULL);
}

static void test_errors(void)
{
	static char name[] = "no-such-container";
	Runtime__V1__StartContainerRequest request;
	struct error err = {0};
	runtime__v1__start_container_request__init(&request);
	request.container_id = name;
	CU_ASSERT_EQUAL(rpc_unary_wait(channel, "/runtime.v1.RuntimeService/StartContainer",
				       &request.base,
				       &runtime__v1__start_container_response__descriptor,
				       PATIENCE_MS, NULL, &err),
			ERROR_REMOTE);
	CU_ASSERT_EQUAL(err.remote, RPC_NOT_FOUND);
	CU_ASSERT(strstr(err.text, name) != NULL);
	CU_ASSERT_EQUAL(rpc_unary_wait(channel, "/runtime.v1.RuntimeService/Nothing", &request.base,
				       &runtime__v1__start_container_response__descriptor,
				       PATIENCE_MS, NULL, &err),
			ERROR_REMOTE);
	CU_ASSERT_EQUAL(err.remote, RPC_UNIMPLEMENTED);
}

/* Header compression tables and windows on both sides turn over. */
static void test_many_calls(void)
{
	for (int i = 0; i < 300; i++)
		test_version();
}

static bool has_ended(void *user)
{
	return process_has_ended(user);
}

static int stop(void)
{
	struct error err = {0};
	rpc_channel_close(channel);
	if (containerd != NULL) {
		process_stop(containerd);
		(void)loop_wait(&loop, has_ended, containerd, PATIENCE_MS, "containerd to end",
				&err);
		process_free(containerd);
	}
	if (loop_drain(&loop, PATIENCE_MS, &err) < 0 || file_remove_tree(directory, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	free(directory);
	free(address);
	return 0;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"version", test_version},	   {"status", test_status},
		{"list images", test_list_images}, {"errors", test_errors},
		{"many calls", test_many_calls},   CU_TEST_INFO_NULL,
	};
	struct error err = {0};
	if (geteuid() != 0) {
		(void)puts("skipped: containerd needs root");
		return SKIPPED;
	}
	if (uv_loop_init(&loop) < 0)
		return 2;
	if (start_containerd(&err) == ERROR_NOT_FOUND) {
		(void)printf("skipped: %s\n", err.text);
		return SKIPPED;
	}
	if (containerd == NULL || connect_to_containerd(&err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		(void)stop();
		return 1;
	}
	int rc = unit_run("client against containerd", tests);
	return stop() < 0 || rc != 0;
}
