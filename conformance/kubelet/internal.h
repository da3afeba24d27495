/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of the fake kubelet, shared by its parts and seen by nobody else. */

#include "conformance/kubelet/dial.h"
#include "conformance/kubelet/fault_state.h"
#include "conformance/kubelet/go_text.h"
#include "conformance/kubelet/id_set.h"
#include "conformance/kubelet/kubelet.h"
#include "conformance/kubelet/plugin_directory.h"
#include "conformance/kubelet/pod.h"
#include "conformance/kubelet/random.h"
#include "rpc/timer.h"
#include "rpc/server.h"
#include "rpc/socket.h"

struct registration;
struct watcher;

struct kubelet_plugin {
	struct kubelet *kubelet;
	struct kubelet_plugin *next; /* all of them, newest first */
	char *resource, *socket;
	struct dial *dial;
	struct rpc_channel *channel;
	struct kubelet_stream *stream;
	bool is_client; /* in the kubelet's table of clients (plugin/v1beta1/handler.go) */
	size_t records; /* so many kubelet_registrations point to it */
	struct kubelet_plugin_options options;
};

/* One resource of the device manager (manager.go: endpoints, healthyDevices, unhealthyDevices). */
struct resource {
	struct resource *next;
	char *name;
	struct kubelet_plugin *endpoint; /* NULL: known from the checkpoint alone */
	bool stopped;			 /* the endpoint's stop time is set */
	uint64_t stopped_ms;		 /* kubelet_elapsed_ms() */
	bool listed;
	bool relisted;			    /* and since the last registration */
	struct kubelet_device_list devices; /* the last message */
	struct id_set healthy, unhealthy;
	/* In use by nobody, and not free either: chosen for a container that got no answer
	 * (manager.go, allocateContainerResources: allocatedDevices is not restored). */
	struct id_set leaked;
	bool told; /* the next two */
	size_t told_capacity, told_allocatable;
};

/* What one container got of one resource. */
struct allocation {
	struct allocation *next;	/* oldest first */
	struct kubelet_allocation seen; /* points into the members below */
	char *pod, *container, *resource;
	struct id_set ids;
	V1beta1__ContainerAllocateResponse *response;
};

/* Devices of a pod's init containers that its later containers get first. */
struct reusable {
	struct reusable *next;
	char *pod, *resource;
	struct id_set ids;
};

struct kubelet {
	uv_loop_t *loop;
	struct kubelet_options options; /* with defaults; strings are those below */
	char *plugin_dir, *registry_dir, *socket, *checkpoint;
	bool running, freeing, checkpoint_written;
	uint64_t born_ms, advanced_ms;
	char *interrupt;
	char *refusal; /* the whole text of the last one */
	struct random random;
	struct rpc_server *server;
	struct plugin_directory directory;
	struct socket_identity socket_identity; /* of kubelet.sock while we listen */
	bool socket_known;
	const char *socket_harm; /* NULL: none seen */
	struct fault_state faults;
	struct watcher *watcher;
	struct timer *node_status;
	struct registration *registrations[KUBELET_REGISTRATIONS_KEPT]; /* a ring */
	size_t registration_count;
	struct kubelet_plugin *plugins;
	struct resource *resources;
	struct allocation *allocations;
	struct reusable *reusables;
};

/* kubelet.c */
void kubelet_report(struct kubelet *kubelet, struct kubelet_event event);
void kubelet_report_problem(struct kubelet *kubelet, const struct error *err);
int kubelet_listen(struct kubelet *kubelet, struct error *err);
void kubelet_unlisten(struct kubelet *kubelet); /* and removes kubelet.sock */
/* ERROR_REMOTE. The text of an error is bounded, that of a refusal is not: kubelet->refusal. */
int kubelet_refuse(struct kubelet *kubelet, struct error *err, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* registration.c */
void registration_handle(struct rpc_stream *stream, struct rpc_slice bytes, void *user);
typedef void registration_done(const struct kubelet_registration *registration, void *user);
/* An attempt of the plugin watcher; `done` tells the outcome and may be called before this returns.
 */
int registration_by_watcher(struct kubelet *kubelet, const char *resource, const char *endpoint,
			    const char *versions, registration_done *done, void *user,
			    struct error *err);
void registrations_forget_user(struct kubelet *kubelet, const void *user);
void registrations_stop(struct kubelet *kubelet); /* nothing runs any more */
void registrations_free(struct kubelet *kubelet);

/* clients.c: the table of connected plugins, and what happens when one goes */
int client_new(struct kubelet *kubelet, const char *resource, const char *socket,
	       struct kubelet_plugin **out, struct error *err); /* registered in the table */
struct kubelet_plugin *client_connected(struct kubelet *kubelet, const char *resource,
					const char *socket);
void client_deregister(struct kubelet_plugin *plugin);
int client_list_and_watch(struct kubelet_plugin *plugin, struct error *err);
void client_stream_ended(struct kubelet_plugin *plugin);
void client_disconnect(struct kubelet_plugin *plugin);
/* DeRegisterPlugin: whoever holds the key that resource and socket have. */
void client_disconnect_holder(struct kubelet *kubelet, const char *resource, const char *socket);
void client_close_channel(struct kubelet_plugin *plugin);
void clients_stop(struct kubelet *kubelet); /* disconnects all */
/* Frees those that no record, no table and no resource knows any more; their streams end unnoticed.
 */
void clients_sweep(struct kubelet *kubelet);
void client_free(struct kubelet_plugin *plugin);

/* resource.c */
struct resource *resource_find(const struct kubelet *kubelet, const char *name);
/* Makes it when absent; NULL: out of memory. */
struct resource *resource_get(struct kubelet *kubelet, const char *name, struct error *err);
void resource_serve(struct kubelet *kubelet, struct kubelet_plugin *plugin);
void resource_list(struct kubelet *kubelet, const char *name,
		   const struct kubelet_device_list *devices);
void resource_disconnected(struct kubelet *kubelet, const char *name);
void resources_tell(struct kubelet *kubelet); /* those of the checkpoint */
int resource_leak(struct kubelet *kubelet, const char *name, const struct id_set *ids,
		  struct error *err);
/* What is in use is counted again from the containers: nothing is leaked any more. */
void resources_recount(struct kubelet *kubelet);
void resource_sweep(struct kubelet *kubelet); /* grace periods */
void resources_free(struct kubelet *kubelet);

/* allocation.c */
struct allocation *allocation_find(const struct kubelet *kubelet, const char *pod,
				   const char *container, const char *resource);
/* Takes over nothing: ids and response are copied. */
int allocation_add(struct kubelet *kubelet, const struct kubelet_allocation *seen,
		   struct allocation **out, struct error *err);
/* When something was removed, what is in use is counted again (resources_recount()). */
void allocation_remove(struct kubelet *kubelet, const char *pod, const char *container);
int allocation_in_use(const struct kubelet *kubelet, const char *resource, struct id_set *ids,
		      struct error *err);
struct reusable *reusable_find(const struct kubelet *kubelet, const char *pod,
			       const char *resource);
/* After a container of the pod was served: its devices become reusable, or stop to be. */
int reusable_update(struct kubelet *kubelet, const struct kubelet_container *container,
		    struct error *err);
void allocations_free(struct kubelet *kubelet);

/* choice.c */
struct choice_request {
	const struct kubelet_container *container;
	const char *resource;
	size_t count;
	const char *const *ids; /* the devices to take; NULL: choose */
	uint64_t timeout_ms;
};

/* Fills `ids`; an empty set means that the container has its devices already. A refusal is
 * ERROR_REMOTE with the kubelet's wording. */
int choice_make(struct kubelet *kubelet, const struct choice_request *request, struct id_set *ids,
		struct error *err);

/* calls.c: calls that the kubelet makes for itself */
struct own_call {
	struct kubelet_plugin *plugin;
	const char *method;
	const ProtobufCMessage *request;
	const ProtobufCMessageDescriptor *reply_type;
	uint64_t deadline_ms; /* sent as grpc-timeout; 0: none */
	uint64_t patience_ms; /* when this passes the call is given up: ERROR_TIMEOUT */
};

int own_call(const struct own_call *call, struct kubelet_reply *out, struct error *err);

/* checkpoint.c */
void checkpoint_write(struct kubelet *kubelet);
void checkpoint_read(struct kubelet *kubelet);

/* faults.c */
void faults_on_stream(struct kubelet_plugin *plugin); /* a ListAndWatch was opened */
/* Opens what a connection fault puts in the place of kubelet.sock, if one is set. */
int faults_replace_socket(struct kubelet *kubelet, bool *replaced, struct error *err);

/* watcher.c */
int watcher_start(struct kubelet *kubelet, struct error *err);
void watcher_stop(struct kubelet *kubelet);
