/* SPDX-License-Identifier: MIT */
#pragma once

/* A device plugin as a child process with a private plugin directory, and a registrar for it. */

#include "base/process.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "reference-plugin/tests/registrar.h"
#include "rpc/client.h"
#include "rpc/loop.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#define DISPLAY "gpucert.internal/display"
#define COMPUTE "gpucert.internal/compute"

enum { RIG_TIMEOUT_MS = 300000 };

struct rig {
	uv_loop_t loop;
	char *directory;     /* plugin directory; removed with the rig */
	char *node;	     /* path of a recorded node that rig_write_node() writes */
	const char *program; /* "device-plugin-gpu"; the test may set another one */
	struct registrar registrar;
	struct process *process;
	struct text log; /* the plugin's stderr */
};

/* Without a registrar and without a plugin. Every step that fails is a failed assertion. */
void rig_open(struct rig *rig);
void rig_close(struct rig *rig); /* also ends the plugin; fails the test when a handle leaks */

void rig_kubelet(struct rig *rig); /* opens the registrar */

/* A recorded node with devices separated by blanks: a name is a display device, "name/c" a compute
 * device, "name/1" lies on NUMA node 1; "name!" is unhealthy. Each has one device node, /dev/NAME.
 * For a DirectX plugin it is a Windows node, where "name" has the location path PCIROOT(0)#NAME,
 * and "name/x" none; display devices compute as well, but for "name/d". */
void rig_write_node(const struct rig *rig, const char *devices);
/* Any bytes in its place: tried again while a reader keeps Windows from replacing the file. */
void rig_write_text(const struct rig *rig, const struct text *json);

/* Starts the plugin with the rig's directory, a poll interval of 100 ms and NULL-ended further
 * arguments. */
void rig_start(struct rig *rig, const char *const *arguments);
void rig_start_with_node(struct rig *rig, const char *devices, const char *more, const char *value);

/* Ends it and returns the exit code; RIG_KILLED after SIGKILL. */
int rig_stop(struct rig *rig, int signal);
enum { RIG_KILLED = -9 };

void rig_remove_file(const char *path);

/* Runs the loop until the condition holds; a failed assertion names `what` after RIG_TIMEOUT_MS. */
bool rig_until(struct rig *rig, loop_condition *condition, void *user, const char *what);
void rig_await_registrations(struct rig *rig, const char *resource, size_t count);

void rig_await_log(struct rig *rig, const char *part);

/* All of it: a kubelet, and a plugin that registered what it serves, which is both resources
 * unless `value` is "display". */
void rig_begin(struct rig *rig, const char *devices, const char *more, const char *value);

/* The plugin stops on SIGTERM with exit code 0. */
void rig_end(struct rig *rig);

/* The path of the newest endpoint of a resource; caller frees. */
char *rig_endpoint_path(const struct rig *rig, const char *resource);

/* A connection to the newest endpoint of a resource. */
struct rpc_channel *rig_dial(struct rig *rig, const char *resource);

/* One unary call on a connection of its own. Returns the status code; the reply (NULL unless OK) is
 * the caller's, the status message is added to `message`, which may be NULL. */
int rig_call(struct rig *rig, const char *resource, const char *method,
	     const ProtobufCMessage *request, const ProtobufCMessageDescriptor *type,
	     ProtobufCMessage **reply, struct text *message);

/* Allocate for one container with ids separated by blanks; the answer as "host_path;..." of its
 * devices and mounts, and the names of CDI devices. */
int rig_allocate(struct rig *rig, const char *resource, const char *ids, struct text *answer);

/* An open ListAndWatch stream. */
struct listing {
	struct rpc_channel *channel;
	struct rpc_call *call;
	size_t messages;
	struct text
		devices; /* the last list: "id", "id!" for an unhealthy one, separated by blanks */
	bool ended;
	int code;
	char message[128];
};

void listing_open(struct rig *rig, const char *resource, struct listing *out);
void listing_close(struct listing *listing);
void listing_await(struct rig *rig, struct listing *listing, const char *devices);
