/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/instance.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "reference-plugin/serving/socket_file.h"
#include "rpc/client.h"
#include "rpc/message.h"

#include <string.h>

enum { STEADY_MS = 60 * 1000 };

struct instance {
	struct serving serving;
	const struct config *config;
	const char *resource_name;
	char *label;		 /* begins the names of sockets: "gpu-display" */
	struct service *service; /* NULL while closing, and when it could not be opened */
	bool service_closing;
	char *socket_path;
	struct socket_identity own;
	struct socket_identity kubelet;	  /* its socket at registration, or when the service
					   * opened */
	struct rpc_channel *channel;	  /* of the attempt to register that is under way */
	struct socket_identity attempted; /* the kubelet's, as it was at the last attempt */
	uint64_t due_ms;		  /* the earliest next attempt */
	unsigned failures;		  /* to register, in a row */
	bool registered;		  /* and no further attempt is under way */
	bool superseded;		  /* a newer instance serves the resource */
	bool follows;			  /* an older one had a socket at the last check */
	unsigned losses;		  /* of the kubelet's stream, in a row */
	uv_timer_t timer; /* the next attempt; once registered: checks for the kubelet */
	char last_problem[ERROR_TEXT_SIZE];
	struct serving_counts counts;
	uint64_t apart_since_ms;    /* since when the kubelet has no stream, if it has none */
	void (*closed)(void *user); /* not NULL: the instance is closing */
	void *closed_user;
};

uint64_t backoff_ms(unsigned failures, uint32_t random)
{
	uint64_t delay = BACKOFF_FIRST_MS;
	for (unsigned i = 1; i < failures && delay < BACKOFF_LAST_MS; i++)
		delay *= 2;
	if (delay > BACKOFF_LAST_MS)
		delay = BACKOFF_LAST_MS;
	return delay + (delay / 4) * random / UINT32_MAX;
}

/* A repeated problem is logged once. */
static void report_problem(struct instance *instance, const char *what, const struct error *why)
{
	bool again = strcmp(instance->last_problem, why->text) == 0;
	log_message(again ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING, "%s: %s: %s",
		    instance->resource_name, what, why->text);
	memcpy(instance->last_problem, why->text, sizeof(instance->last_problem));
}

static bool newer_instance_serves(const struct instance *instance)
{
	return socket_file_newer_serves(instance->config->plugin_dir, instance->label,
					path_base(instance->socket_path));
}

static void on_timer(uv_timer_t *timer);

static void check_later(struct instance *instance)
{
	(void)uv_timer_start(&instance->timer, on_timer, backoff_ms(++instance->losses, 0), 0);
}

static void fail(struct instance *instance, const struct error *why)
{
	uint32_t random = 0;
	(void)uv_random(NULL, NULL, &random, sizeof(random), 0, NULL);
	uint64_t delay = backoff_ms(++instance->failures, random);
	(void)uv_timer_start(&instance->timer, on_timer, delay, 0);
	report_problem(instance, "registration failed and is tried again", why);
	metrics_count_error(&instance->counts, &instance->counts.registration_errors);
	log_debug("%s: next attempt in %llu ms", instance->resource_name,
		  (unsigned long long)delay);
}

static void take_registration(struct instance *instance)
{
	instance->registered = true;
	instance->failures = 0;
	instance->counts.registrations++;
	/* The stream may never come: the kubelet ends its stream when another instance stops. */
	if (instance->losses > 0)
		check_later(instance);
	else
		(void)uv_timer_start(&instance->timer, on_timer, BACKOFF_LAST_MS, 0);
	instance->kubelet = instance->attempted;
	instance->last_problem[0] = '\0';
}

static void on_reply(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct instance *instance = user;
	struct error why = {0};
	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
	/* Without a channel the attempt was abandoned. */
	if (instance->channel == NULL)
		return;
	if (status->code != RPC_OK)
		(void)error_set(&why, ERROR_REMOTE, "%s: %s", rpc_code_name(status->code),
				status->message);
	rpc_channel_close(STEAL(instance->channel));
	if (why.code != 0) {
		fail(instance, &why);
		return;
	}
	take_registration(instance);
	log_info("%s: registered with the kubelet at %s", instance->resource_name,
		 instance->config->kubelet_socket);
}

static void attempt(struct instance *instance)
{
	const struct config *config = instance->config;
	V1beta1__DevicePluginOptions options = service_plugin_options();
	V1beta1__RegisterRequest request = V1BETA1__REGISTER_REQUEST__INIT;
	char *address CLEANUP_FREE = text_format("unix:%s", config->kubelet_socket);
	struct error err = {0};
	const uint64_t now_ms = uv_now(instance->serving.loop);
	const uint64_t burst_ms = (uint64_t)(REGISTER_BURST - 1) * BACKOFF_FIRST_MS;
	if (instance->due_ms + burst_ms < now_ms)
		instance->due_ms = now_ms - burst_ms;
	instance->due_ms += BACKOFF_FIRST_MS;
	instance->attempted = socket_file_at(config->kubelet_socket);
	request.version = wire_string("v1beta1");
	request.endpoint = wire_string(path_base(instance->socket_path));
	request.resource_name = wire_string(instance->resource_name);
	request.options = &options;
	service_registers(instance->service);
	int rc = address != NULL ? rpc_channel_open(instance->serving.loop, address, NULL,
						    &instance->channel, &err)
				 : error_memory(&err);
	if (rc == 0)
		rc = rpc_unary(instance->channel, "/v1beta1.Registration/Register", &request.base,
			       &v1beta1__empty__descriptor, config->register_timeout_ms, on_reply,
			       instance, NULL, &err);
	if (rc == 0)
		return;
	rpc_channel_close(STEAL(instance->channel));
	fail(instance, &err);
}

/* Abandons the current attempt. */
static void stop_registering(struct instance *instance)
{
	(void)uv_timer_stop(&instance->timer);
	rpc_channel_close(STEAL(instance->channel));
	instance->registered = false;
}

static void register_endpoint(struct instance *instance)
{
	uint64_t now_ms = uv_now(instance->serving.loop);
	stop_registering(instance);
	instance->failures = 0;
	if (now_ms >= instance->due_ms)
		attempt(instance);
	else
		(void)uv_timer_start(&instance->timer, on_timer, instance->due_ms - now_ms, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct instance *instance = timer->data;
	/* A kubelet up to 1.36 that gets the endpoint again mistakes the end of its first stream for that of the
	 * second. */
	if (instance->failures > 0 && service_is_watched_anew(instance->service)) {
		log_info("%s: the kubelet watches: it is registered, though the answer failed",
			 instance->resource_name);
		take_registration(instance);
	}
	if (instance->registered)
		service_registered(instance->service);
	/* The kubelet ended the stream, or never opened one. instance_check() waits for a kubelet
	 * that is gone. */
	if (instance->registered && (service_is_watched(instance->service) ||
				     socket_file_at(instance->config->kubelet_socket).inode == 0))
		return;
	/* Only the newest of several instances registers. */
	instance->superseded = newer_instance_serves(instance);
	if (instance->superseded)
		return;
	if (!instance->registered) {
		attempt(instance);
		return;
	}
	log_info("%s: the kubelet does not watch: registering again", instance->resource_name);
	instance->losses += instance->losses == 0 ? 1 : 0;
	register_endpoint(instance);
}

/* Kubelets up to 1.36 end the stream of the newer of two instances when that of the older ends. */
static void on_unwatched(uint64_t watched_ms, void *user)
{
	struct instance *instance = user;
	instance->apart_since_ms = uv_now(instance->serving.loop);
	if (watched_ms >= STEADY_MS)
		instance->losses = 0;
	if (instance->registered)
		check_later(instance);
	else
		instance->losses++;
}

static int serve_and_register(struct instance *instance, struct error *err)
{
	char *name CLEANUP_FREE = socket_file_name(instance->label);
	char *path = name != NULL ? path_join(instance->config->plugin_dir, name) : NULL;
	char *address CLEANUP_FREE = path != NULL ? text_format("unix:%s", path) : NULL;
	free(instance->socket_path);
	instance->socket_path = path;
	if (address == NULL)
		return error_memory(err);
	int rc = service_open(&instance->serving, address, on_unwatched, instance,
			      &instance->service, err);
	if (rc < 0)
		return rc;
	instance->own = socket_file_at(path);
	instance->kubelet = socket_file_at(instance->config->kubelet_socket);
	log_info("%s: serving on %s", instance->resource_name, path);
	instance->superseded = false;
	instance->follows =
		socket_file_older_exists(instance->config->plugin_dir, instance->label, name);
	instance->losses = 0;
	register_endpoint(instance);
	return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct instance *instance = handle->data;
	if (instance->closed != NULL)
		instance->closed(instance->closed_user);
	free(instance->label);
	free(instance->socket_path);
	free(instance);
}

static void free_later(struct instance *instance)
{
	rpc_channel_close(STEAL(instance->channel));
	uv_close((uv_handle_t *)&instance->timer, on_timer_closed);
}

int instance_open(const struct serving *serving, struct instance **out, struct error *err)
{
	const struct config *config = serving->config;
	const char *kind = inventory_resource_name(serving->resource);
	struct instance *instance = calloc(1, sizeof(*instance));
	if (instance == NULL)
		return error_memory(err);
	instance->serving = *serving;
	instance->serving.counts = &instance->counts;
	instance->apart_since_ms = uv_now(serving->loop);
	instance->config = config;
	instance->resource_name =
		config_resource_name(config, serving->resource == INVENTORY_DISPLAY);
	(void)uv_timer_init(serving->loop, &instance->timer);
	instance->timer.data = instance;

	/* Instances of one resource know each other by the names of their sockets. */
	char digest[DIGEST_SIZE] = "";
	if (config->resource_name[0] != '\0')
		digest_bytes(config->resource_name, strlen(config->resource_name), digest);
	instance->label = text_format("%s-%s%s%.8s", config->program->short_name, kind,
				      digest[0] != '\0' ? "." : "",
				      digest[0] != '\0' ? digest + strlen("sha256:") : "");

	int rc = instance->label != NULL ? 0 : error_memory(err);
	if (rc == 0) {
		socket_file_remove_stale(config->plugin_dir, instance->label);
		if (file_exists(config->plugin_dir))
			rc = serve_and_register(instance, err);
		else
			log_info("%s: waiting for the directory %s", instance->resource_name,
				 config->plugin_dir);
	}
	if (rc < 0) {
		free_later(instance);
		return error_wrap(err, rc, "cannot serve %s", kind);
	}
	*out = instance;
	return 0;
}

static void serve_again(struct instance *instance)
{
	struct error err = {0};
	if (serve_and_register(instance, &err) < 0)
		report_problem(instance, "cannot serve and tries again", &err);
}

static void on_service_closed(void *user)
{
	struct instance *instance = user;
	instance->service_closing = false;
	if (instance->closed == NULL)
		serve_again(instance);
	else
		free_later(instance);
}

static void close_service(struct instance *instance, const char *why)
{
	stop_registering(instance);
	instance->service_closing = true;
	if (service_is_watched(instance->service))
		instance->apart_since_ms = uv_now(instance->serving.loop);
	service_close(STEAL(instance->service), why, on_service_closed, instance);
}

void instance_check(struct instance *instance)
{
	const char *reason = NULL;
	if (instance->closed != NULL || instance->service_closing)
		return;
	if (instance->service == NULL) {
		if (file_exists(instance->config->plugin_dir))
			serve_again(instance);
		return;
	}

	const struct socket_identity own = socket_file_at(instance->socket_path);
	const struct socket_identity kubelet = socket_file_at(instance->config->kubelet_socket);
	if (!socket_is_same(&own, &instance->own))
		reason = "the plugin's socket was removed";
	else if (kubelet.inode != 0 && !socket_is_same(&kubelet, &instance->kubelet))
		reason = "the kubelet's socket is a new one";
	if (reason != NULL) {
		log_info("%s: %s: starting over", instance->resource_name, reason);
		close_service(instance, reason);
		return;
	}

	/* When one of two instances ends, kubelets up to 1.36 may be left with neither: they do not return
	 * to the older one, although they hold its stream; and the older one may have registered last. */
	const bool had_other = instance->superseded || instance->follows;
	const bool tries = !instance->registered && (instance->channel != NULL ||
						     uv_is_active((uv_handle_t *)&instance->timer));
	instance->superseded = newer_instance_serves(instance);
	instance->follows = socket_file_older_exists(instance->config->plugin_dir, instance->label,
						     path_base(instance->socket_path));
	if (!had_other || instance->superseded || instance->follows)
		return;
	if (tries) {
		instance->follows = true; /* until that attempt is over */
		return;
	}
	log_info("%s: the other instance is gone: registering again", instance->resource_name);
	register_endpoint(instance);
}

void instance_refresh(struct instance *instance)
{
	struct error err = {0};
	if (instance->service != NULL && service_refresh(instance->service, &err) < 0)
		report_problem(instance, "cannot list the devices", &err);
}

void instance_state(const struct instance *instance, struct serving_state *out)
{
	const struct inventory *inventory = scanner_inventory(instance->serving.scanner);
	*out = (struct serving_state){
		.resource = instance->resource_name,
		.problem = instance->last_problem,
		.counts = instance->counts,
		.streams = instance->service != NULL ? service_streams(instance->service) : 0,
		.apart_ms = uv_now(instance->serving.loop) - instance->apart_since_ms,
		.superseded = instance->superseded,
	};
	out->connected = instance->service != NULL && service_is_watched(instance->service) ? 1 : 0;
	for (size_t i = 0; i < inventory->device_count; i++) {
		const struct inventory_device *device = &inventory->devices[i];
		if (device->resource == instance->serving.resource)
			*(device->healthy ? &out->healthy : &out->unhealthy) += 1;
	}
}

void instance_close(struct instance *instance, void (*closed)(void *user), void *user)
{
	instance->closed = closed;
	instance->closed_user = user;
	if (instance->service != NULL)
		close_service(instance, "the device plugin is stopping");
	else if (!instance->service_closing)
		free_later(instance);
}
