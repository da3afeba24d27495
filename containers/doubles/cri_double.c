/* SPDX-License-Identifier: MIT */
#include "containers/doubles/cri_double.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "rpc/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHOD_MAX = 32, TEXT_MAX = 200 };

struct cri_method {
	const struct cri_double *runtime;
	const char *path;
	unsigned calls;
	int code;
	char text[TEXT_MAX];
	uint8_t *message;
	size_t size;
	struct text request; /* the last one */
};

struct cri_double {
	struct rpc_server *server;
	bool hangs;
	struct cri_method methods[METHOD_MAX];
};

static const char *const runtime_methods[] = {
	"Version",	  "Status",	      "RuntimeConfig",	 "RunPodSandbox",
	"StopPodSandbox", "RemovePodSandbox", "ListPodSandbox",	 "CreateContainer",
	"StartContainer", "StopContainer",    "RemoveContainer", "ContainerStatus",
	"ContainerStats", "ListContainers",   "ExecSync",
};

static const char *const image_methods[] = {"ImageStatus", "ListImages", "PullImage",
					    "RemoveImage"};

static void handle(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct cri_method *method = user;
	text_reset(&method->request);
	text_append(&method->request, (const char *)request.data, request.size);
	method->calls++;
	if (method->runtime->hangs)
		return;
	if (method->code == RPC_OK)
		(void)rpc_stream_send(stream, (struct rpc_slice){method->message, method->size},
				      NULL);
	rpc_stream_finish(stream, method->code, "%s", method->text);
}

static void add_methods(struct cri_double *runtime, const char *service, const char *const *names,
			size_t count, size_t first)
{
	for (size_t i = 0; i < count; i++) {
		char *path CLEANUP_FREE = text_format("/runtime.v1.%s/%s", service, names[i]);
		struct cri_method *method = &runtime->methods[first + i];
		method->runtime = runtime;
		method->path = names[i];
		if (path == NULL || rpc_server_add(runtime->server, path, handle, method, NULL) < 0)
			abort();
	}
}

struct cri_double *cri_double_open(uv_loop_t *loop, const char *address)
{
	struct cri_double *runtime = calloc(1, sizeof(*runtime));
	struct error err = {0};
	if (runtime == NULL || rpc_server_new(loop, NULL, &runtime->server, &err) < 0)
		abort();
	add_methods(runtime, "RuntimeService", runtime_methods, ARRAY_SIZE(runtime_methods), 0);
	add_methods(runtime, "ImageService", image_methods, ARRAY_SIZE(image_methods),
		    ARRAY_SIZE(runtime_methods));
	if (rpc_server_listen(runtime->server, address, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		abort();
	}
	return runtime;
}

void cri_double_hang(struct cri_double *runtime)
{
	runtime->hangs = true;
}

void cri_double_close(struct cri_double *runtime)
{
	rpc_server_close(runtime->server);
	for (size_t i = 0; i < METHOD_MAX; i++) {
		free(runtime->methods[i].message);
		text_free(&runtime->methods[i].request);
	}
	free(runtime);
}

static struct cri_method *find_method(const struct cri_double *runtime, const char *name)
{
	for (size_t i = 0; i < METHOD_MAX; i++) {
		const struct cri_method *method = &runtime->methods[i];
		if (method->path != NULL && strcmp(method->path, name) == 0)
			return (struct cri_method *)(uintptr_t)method;
	}
	abort();
}

static struct cri_method *reset_method(struct cri_double *runtime, const char *name)
{
	struct cri_method *method = find_method(runtime, name);
	free(method->message);
	method->message = NULL;
	method->size = 0;
	method->code = RPC_OK;
	method->text[0] = '\0';
	return method;
}

void cri_double_fail(struct cri_double *runtime, const char *name, int code, const char *text)
{
	struct cri_method *method = reset_method(runtime, name);
	method->code = code;
	(void)snprintf(method->text, sizeof(method->text), "%s", text);
}

void cri_double_answer(struct cri_double *runtime, const char *name,
		       const ProtobufCMessage *message)
{
	struct cri_method *method = reset_method(runtime, name);
	method->size = protobuf_c_message_get_packed_size(message);
	method->message = malloc(method->size + 1);
	if (method->message == NULL)
		abort();
	(void)protobuf_c_message_pack(message, method->message);
}

unsigned cri_double_calls(const struct cri_double *runtime, const char *name)
{
	return find_method(runtime, name)->calls;
}

void *cri_double_request(const struct cri_double *runtime, const char *name,
			 const ProtobufCMessageDescriptor *type)
{
	const struct cri_method *method = find_method(runtime, name);
	return method->calls == 0
		       ? NULL
		       : protobuf_c_message_unpack(type, NULL, method->request.size,
						   (const uint8_t *)text_string(&method->request));
}
