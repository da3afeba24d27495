/* SPDX-License-Identifier: MIT */
/* The server of client.mjs; common.mjs says what it does. Usage: rpc_interop_server ADDRESS. Ends
 * on SIGTERM. */
#include "base/cleanup.h"
#include "base/text.h"
#include "rpc/loop.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"
#include "rpc/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rpc_server *server;
static unsigned long ended;
static bool forever; /* of the next ListAndWatch */

/* The fixed parts of an answer. */
static char id_key[] = "ID", kind_key[] = "kind", kind_value[] = "test";
static char in_path[] = "/in", out_path[] = "/out", device_in[] = "/dev/a", device_out[] = "/dev/b";
static char permissions[] = "rw", cdi_name[] = "vendor.example/gpu=0", healthy[] = "Healthy";

static void on_end(void *user)
{
	(void)user;
	ended++;
}

static void reply_allocate(struct rpc_stream *stream, char *id)
{
	V1beta1__ContainerAllocateResponse__EnvsEntry env;
	V1beta1__ContainerAllocateResponse__AnnotationsEntry annotation;
	V1beta1__Mount mount;
	V1beta1__DeviceSpec device;
	V1beta1__CDIDevice cdi;
	V1beta1__ContainerAllocateResponse container;
	V1beta1__AllocateResponse answer;
	v1beta1__container_allocate_response__envs_entry__init(&env);
	v1beta1__container_allocate_response__annotations_entry__init(&annotation);
	v1beta1__mount__init(&mount);
	v1beta1__device_spec__init(&device);
	v1beta1__cdidevice__init(&cdi);
	v1beta1__container_allocate_response__init(&container);
	v1beta1__allocate_response__init(&answer);
	env.key = id_key;
	env.value = id;
	annotation.key = kind_key;
	annotation.value = kind_value;
	mount.container_path = in_path;
	mount.host_path = out_path;
	mount.read_only = 1;
	device.container_path = device_in;
	device.host_path = device_out;
	device.permissions = permissions;
	cdi.name = cdi_name;
	container.n_envs = 1;
	container.envs = (V1beta1__ContainerAllocateResponse__EnvsEntry *[]){&env};
	container.n_annotations = 1;
	container.annotations =
		(V1beta1__ContainerAllocateResponse__AnnotationsEntry *[]){&annotation};
	container.n_mounts = 1;
	container.mounts = (V1beta1__Mount *[]){&mount};
	container.n_devices = 1;
	container.devices = (V1beta1__DeviceSpec *[]){&device};
	container.n_cdi_devices = 1;
	container.cdi_devices = (V1beta1__CDIDevice *[]){&cdi};
	answer.n_container_responses = 1;
	answer.container_responses = (V1beta1__ContainerAllocateResponse *[]){&container};
	rpc_stream_reply(stream, &answer.base);
}

static void on_allocate(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	V1beta1__AllocateRequest *asked = (V1beta1__AllocateRequest *)rpc_stream_unpack(
		stream, request, &v1beta1__allocate_request__descriptor);
	char number[24] = "";
	(void)user;
	if (asked == NULL)
		return;
	char *id = asked->container_requests[0]->devices_ids[0];
	(void)snprintf(number, sizeof(number), "%lu", ended);
	forever = strcmp(id, "forever") == 0;
	if (text_starts_with(id, "fail:"))
		rpc_stream_finish(stream, (int)strtol(id + 5, NULL, 10), "%s",
				  strchr(id + 5, ':') + 1);
	else if (strcmp(id, "hold") == 0)
		rpc_stream_on_end(stream, on_end, NULL);
	else
		reply_allocate(stream, strcmp(id, "ended") == 0 ? number : id);
	v1beta1__allocate_request__free_unpacked(asked, NULL);
}

/* How far a ListAndWatch has come. */
struct lister {
	unsigned next, count;
	bool forever;
};

static void lister_advance(struct rpc_stream *stream, void *user)
{
	struct lister *lister = user;
	while (lister->next < lister->count) {
		V1beta1__ListAndWatchResponse list = V1BETA1__LIST_AND_WATCH_RESPONSE__INIT;
		V1beta1__Device device;
		char id[24] = "";
		(void)snprintf(id, sizeof(id), "gpu-%u", lister->next);
		v1beta1__device__init(&device);
		device.id = id;
		device.health = healthy;
		list.n_devices = 1;
		list.devices = (V1beta1__Device *[]){&device};
		uint8_t bytes[64];
		struct rpc_slice message = {bytes, protobuf_c_message_pack(&list.base, bytes)};
		if (rpc_stream_send(stream, message, NULL) < 0)
			return; /* on_drain comes */
		lister->next++;
	}
	if (!lister->forever)
		rpc_stream_finish(stream, RPC_OK, "%s", "");
}

static void lister_end(void *user)
{
	const struct lister *lister = user;
	if (lister->forever)
		ended++;
	free(user);
}

static void on_list(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct lister *lister = calloc(1, sizeof(*lister));
	(void)request;
	(void)user;
	if (lister == NULL)
		abort();
	lister->forever = forever;
	lister->count = lister->forever ? 1 : 100;
	rpc_stream_on_end(stream, lister_end, lister);
	rpc_stream_on_drain(stream, lister_advance, lister);
	lister_advance(stream, lister);
}

static void on_signal(uv_signal_t *handle, int number)
{
	(void)number;
	rpc_server_shutdown(server, 50, NULL, NULL);
	uv_close((uv_handle_t *)handle, NULL);
}

int main(int argc, char **argv)
{
	struct error err = {0};
	uv_signal_t sigterm;
	uv_loop_t loop;
	if (argc != 2 || uv_loop_init(&loop) < 0 || uv_signal_init(&loop, &sigterm) < 0 ||
	    uv_signal_start(&sigterm, on_signal, SIGTERM) < 0 ||
	    rpc_server_new(&loop, NULL, &server, &err) < 0 ||
	    rpc_server_add(server, "/v1beta1.DevicePlugin/Allocate", on_allocate, NULL, &err) < 0 ||
	    rpc_server_add(server, "/v1beta1.DevicePlugin/ListAndWatch", on_list, NULL, &err) < 0 ||
	    rpc_server_listen(server, argv[1], &err) < 0) {
		(void)fprintf(stderr, "usage: %s ADDRESS (%s)\n", argv[0], err.text);
		return 2;
	}
	(void)puts("ready");
	(void)fflush(stdout);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	if (loop_drain(&loop, 5000, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
