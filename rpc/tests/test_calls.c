/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/tests/unit.h"
#include "rpc/loop.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"
#include "rpc/tests/raw.h"
#include "rpc/tests/rig.h"

#include <stdlib.h>
#include <string.h>

static void test_echo(void)
{
	struct rig rig;
	struct outcome out;
	rig_start(&rig, NULL, NULL);
	outcome_call(&rig, "/test.Test/Echo", "hello", 5, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT_EQUAL(out.messages, 1);
	CU_ASSERT(out.last_size == 5 && memcmp(out.last, "hello", 5) == 0);
	CU_ASSERT_STRING_EQUAL(out.message, "");
	outcome_free(&out);
	outcome_call(&rig, "/test.Test/Echo", "", 0, &out);
	CU_ASSERT_EQUAL(out.code, RPC_OK);
	CU_ASSERT(out.messages == 1 && out.last_size == 0);
	outcome_free(&out);
	rig_stop(&rig);
}

static void test_every_code(void)
{
	struct rig rig;
	struct outcome out;
	rig_start(&rig, NULL, NULL);
	for (int code = RPC_OK; code <= RPC_UNAUTHENTICATED; code++) {
		char request[] = "?100 % \xe2\x82\xac\n gone";
		request[0] = (char)code;
		outcome_call(&rig, "/test.Test/Fail", request, strlen(request + 1) + 1, &out);
		CU_ASSERT_EQUAL(out.code, code);
		CU_ASSERT_STRING_EQUAL(out.message, request + 1);
		CU_ASSERT_EQUAL(out.messages, 0);
		outcome_free(&out);
	}
	outcome_call(&rig, "/test.Test/Fail", "\x55x", 2, &out);
	CU_ASSERT_EQUAL(out.code, 0x55);
	outcome_free(&out);
	rig_stop(&rig);
}

static void test_long_status_message(void)
{
	struct rig rig;
	struct outcome out;
	char *request = must(malloc(100001));
	memset(request, 0xc3, 100001);
	request[0] = RPC_NOT_FOUND;
	rig_start(&rig, NULL, NULL);
	outcome_call(&rig, "/test.Test/Fail", request, 100001, &out);
	CU_ASSERT_EQUAL(out.code, RPC_NOT_FOUND);
	CU_ASSERT_EQUAL(strlen(out.message), sizeof(out.message) - 1);
	outcome_free(&out);
	rig_stop(&rig);
	free(request);
}

static void test_unknown_method(void)
{
	struct rig rig;
	struct outcome out;
	rig_start(&rig, NULL, NULL);
	outcome_call(&rig, "/v1alpha.DevicePlugin/Allocate", "", 0, &out);
	CU_ASSERT_EQUAL(out.code, RPC_UNIMPLEMENTED);
	CU_ASSERT_STRING_EQUAL(out.message, "unknown service v1alpha.DevicePlugin");
	outcome_free(&out);
	outcome_call(&rig, "/test.Test/echo", "", 0, &out);
	CU_ASSERT_EQUAL(out.code, RPC_UNIMPLEMENTED);
	CU_ASSERT_STRING_EQUAL(out.message, "unknown method echo for service test.Test");
	outcome_free(&out);
	rig_stop(&rig);
}

static void allocate(struct rig *rig, const char *id, ProtobufCMessage **reply, int *rc,
		     struct error *err)
{
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	char *copy = strdup(id);
	char *ids[] = {copy};
	container.devices_ids = ids;
	container.n_devices_ids = id[0] != '\0';
	request.container_requests = containers;
	request.n_container_requests = 1;
	*rc = rpc_unary_wait(rig->channel, "/v1beta1.DevicePlugin/Allocate", &request.base,
			     &v1beta1__allocate_response__descriptor, 2000, reply, err);
	free(copy);
}

static void test_typed_unary(void)
{
	struct rig rig;
	ProtobufCMessage *reply = NULL;
	struct error err = {0};
	int rc = 0;
	rig_start(&rig, NULL, NULL);
	allocate(&rig, "gpu-0", &reply, &rc, &err);
	CU_ASSERT_EQUAL_FATAL(rc, 0);
	const V1beta1__AllocateResponse *answer = (const V1beta1__AllocateResponse *)reply;
	CU_ASSERT_EQUAL_FATAL(answer->n_container_responses, 1);
	CU_ASSERT_EQUAL_FATAL(answer->container_responses[0]->n_envs, 1);
	CU_ASSERT_STRING_EQUAL(answer->container_responses[0]->envs[0]->value, "gpu-0");
	protobuf_c_message_free_unpacked(reply, NULL);
	allocate(&rig, "", &reply, &rc, &err);
	CU_ASSERT_EQUAL(rc, ERROR_REMOTE);
	CU_ASSERT_EQUAL(err.remote, RPC_INVALID_ARGUMENT);
	CU_ASSERT_STRING_EQUAL(
		err.text, "/v1beta1.DevicePlugin/Allocate: INVALID_ARGUMENT: expected one device");
	rig_stop(&rig);
}

static void test_socket_file(void)
{
	struct rig rig;
	struct rpc_server *second = NULL;
	struct error err = {0};
	rig_start(&rig, NULL, NULL);
	CU_ASSERT(raw_is_private(&rig));
	CU_ASSERT_EQUAL_FATAL(rpc_server_new(&rig.loop, NULL, &second, &err), 0);
	CU_ASSERT_EQUAL(rpc_server_listen(second, rig.address, &err), ERROR_EXISTS);
	/* The file goes, another server takes the name: the first one must leave it alone. */
	CU_ASSERT_EQUAL(remove(rig.path), 0);
	CU_ASSERT_EQUAL(rpc_server_listen(second, rig.address, &err), 0);
	rpc_server_close(rig.server);
	rig.server = NULL;
	loop_run_for(&rig.loop, 1);
	CU_ASSERT(file_exists(rig.path));
	rpc_server_close(second);
	CU_ASSERT(!file_exists(rig.path));
	rig_stop(&rig);
}

UNIT_MAIN("calls", {"echo", test_echo}, {"every code", test_every_code},
	  {"long status message", test_long_status_message},
	  {"unknown method", test_unknown_method}, {"typed unary", test_typed_unary},
	  {"socket file", test_socket_file})
