/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/instance.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "reference-plugin/serving/registration.h"
#include "reference-plugin/serving/service.h"

#include <string.h>

enum { STEADY_MS = 60 * 1000 };

struct instance {
	uv_loop_t *loop;
	const struct config *config;
	struct scanner *scanner;
	enum inventory_resource resource;
	const char *resource_name;
	char *label; /* begins the names of sockets: "gpu-display" */
	struct registration *registration;
	struct service *service; /* NULL while one is closing and when one could not be opened */
	bool service_closing;
	char *socket_path;
	struct socket_file own;
	struct socket_file kubelet; /* as it was when registered with, or the service was opened */
	bool registered;	    /* and no further attempt is under way */
	bool superseded;	    /* a newer instance serves the resource */
	unsigned losses;	    /* of the kubelet's stream, in a row */
	uv_timer_t look;	    /* whether the kubelet watches again */
	char last_problem[ERROR_TEXT_SIZE];
	void (*closed)(void *user); /* not NULL: the instance is closing */
	void *closed_user;
};

/* A problem that repeats is told once. */
static void tell_problem(struct instance *instance, const char *what, const struct error *why)
{
	bool again = strcmp(instance->last_problem, why->text) == 0;

	log_message(again ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING, "%s: %s: %s",
		    instance->resource_name, what, why->text);
	memcpy(instance->last_problem, why->text, sizeof(instance->last_problem));
}

static void register_endpoint(struct instance *instance)
{
	instance->registered = false;
	registration_start(instance->registration, path_base(instance->socket_path));
}

static bool newer_instance_serves(const struct instance *instance)
{
	return socket_file_newer_serves(instance->config->plugin_dir, instance->label,
					path_base(instance->socket_path));
}

/* A kubelet that is gone is waited for elsewhere, and the newest of several instances is the one
 * that registers. */
static void on_look(uv_timer_t *timer)
{
	struct instance *instance = timer->data;

	if (!instance->registered || service_is_watched(instance->service) ||
	    !socket_file_at(instance->config->kubelet_socket).exists)
		return;
	instance->superseded = newer_instance_serves(instance);
	if (instance->superseded)
		return;
	log_info("%s: the kubelet ended the stream: registering again", instance->resource_name);
	register_endpoint(instance);
}

static void look_later(struct instance *instance)
{
	instance->losses++;
	(void)uv_timer_start(&instance->look, on_look, backoff_ms(instance->losses, 0), 0);
}

/* Kubelets up to 1.36 end the stream of the newer of two instances when that of the older ends. */
static void on_unwatched(uint64_t watched_ms, void *user)
{
	struct instance *instance = user;

	if (watched_ms >= STEADY_MS)
		instance->losses = 0;
	look_later(instance);
}

static void on_registered(struct socket_file kubelet, void *user)
{
	struct instance *instance = user;

	instance->registered = true;
	if (instance->losses > 0)
		look_later(instance);
	instance->kubelet = kubelet;
	instance->last_problem[0] = '\0';
	log_info("%s: registered with the kubelet at %s", instance->resource_name,
		 instance->config->kubelet_socket);
}

static void on_not_registered(const struct error *why, uint64_t retry_ms, void *user)
{
	struct instance *instance = user;

	tell_problem(instance, "registration failed and is tried again", why);
	log_debug("%s: next attempt in %llu ms", instance->resource_name,
		  (unsigned long long)retry_ms);
}

static int open_service(struct instance *instance, struct error *err)
{
	char *name CLEANUP_FREE = socket_file_name(instance->label);
	char *path = name != NULL ? path_join(instance->config->plugin_dir, name) : NULL;
	char *address CLEANUP_FREE = path != NULL ? text_format("unix:%s", path) : NULL;
	const struct service_options options = {
		.loop = instance->loop,
		.address = address,
		.config = instance->config,
		.scanner = instance->scanner,
		.resource = instance->resource,
		.on_unwatched = on_unwatched,
		.user = instance,
	};

	free(instance->socket_path);
	instance->socket_path = path;
	return address != NULL ? service_open(&options, &instance->service, err)
			       : error_memory(err);
}

static int serve_and_register(struct instance *instance, struct error *err)
{
	int rc = open_service(instance, err);

	if (rc < 0)
		return rc;
	instance->own = socket_file_at(instance->socket_path);
	instance->kubelet = socket_file_at(instance->config->kubelet_socket);
	log_info("%s: serving on %s", instance->resource_name, instance->socket_path);
	instance->superseded = false;
	instance->losses = 0;
	register_endpoint(instance);
	return 0;
}

/* Instances of one resource know each other by the names of their sockets. */
static char *label_of(const struct config *config, enum inventory_resource resource)
{
	const char *program = config->program->short_name;
	const char *kind = inventory_resource_name(resource);
	char digest[DIGEST_SIZE] = "";

	if (config->resource_name[0] == '\0')
		return text_format("%s-%s", program, kind);
	digest_bytes(config->resource_name, strlen(config->resource_name), digest);
	return text_format("%s-%s.%.8s", program, kind, digest + strlen("sha256:"));
}

static int open_parts(struct instance *instance, struct error *err)
{
	const struct config *config = instance->config;
	const struct registration_options registration = {
		.loop = instance->loop,
		.kubelet_socket = config->kubelet_socket,
		.resource_name = instance->resource_name,
		.timeout_ms = config->register_timeout_ms,
		.on_success = on_registered,
		.on_failure = on_not_registered,
		.user = instance,
	};
	int rc = registration_new(&registration, &instance->registration, err);

	if (rc < 0)
		return rc;
	instance->label = label_of(config, instance->resource);
	if (instance->label == NULL)
		return error_memory(err);
	socket_file_remove_stale(config->plugin_dir, instance->label);
	if (file_exists(config->plugin_dir))
		return serve_and_register(instance, err);
	log_info("%s: waiting for the directory %s", instance->resource_name, config->plugin_dir);
	return 0;
}

static void on_look_closed(uv_handle_t *handle)
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
	registration_close(instance->registration);
	uv_close((uv_handle_t *)&instance->look, on_look_closed);
}

int instance_open(uv_loop_t *loop, const struct config *config, enum inventory_resource resource,
		  struct scanner *scanner, struct instance **out, struct error *err)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	int rc = 0;

	if (instance == NULL)
		return error_memory(err);
	instance->loop = loop;
	instance->config = config;
	instance->scanner = scanner;
	instance->resource = resource;
	instance->resource_name = config_resource_name(config, resource == INVENTORY_DISPLAY);
	(void)uv_timer_init(loop, &instance->look);
	instance->look.data = instance;
	rc = open_parts(instance, err);
	if (rc < 0) {
		free_later(instance);
		return error_wrap(err, rc, "cannot serve %s", inventory_resource_name(resource));
	}
	*out = instance;
	return 0;
}

static void serve_again(struct instance *instance)
{
	struct error err = {0};

	if (serve_and_register(instance, &err) < 0)
		tell_problem(instance, "cannot serve and tries again", &err);
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
	registration_stop(instance->registration);
	(void)uv_timer_stop(&instance->look);
	instance->registered = false;
	instance->service_closing = true;
	service_close(STEAL(instance->service), why, on_service_closed, instance);
}

static const char *reason_to_start_over(const struct instance *instance)
{
	struct socket_file own = socket_file_at(instance->socket_path);
	struct socket_file kubelet = socket_file_at(instance->config->kubelet_socket);

	if (!socket_file_same(&own, &instance->own))
		return "the plugin's socket was removed";
	if (kubelet.exists && !socket_file_same(&kubelet, &instance->kubelet))
		return "the kubelet's socket is a new one";
	return NULL;
}

/* When the newer of two instances is gone, kubelets up to 1.36 have neither: they do not go back to
 * the older one, although they hold its stream. */
static void check_succession(struct instance *instance)
{
	bool was = instance->superseded;

	instance->superseded = newer_instance_serves(instance);
	if (!was || instance->superseded || !instance->registered)
		return;
	log_info("%s: the newer instance is gone: registering again", instance->resource_name);
	register_endpoint(instance);
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
	reason = reason_to_start_over(instance);
	if (reason == NULL) {
		check_succession(instance);
		return;
	}
	log_info("%s: %s: starting over", instance->resource_name, reason);
	close_service(instance, reason);
}

void instance_refresh(struct instance *instance)
{
	struct error err = {0};

	if (instance->service != NULL && service_refresh(instance->service, &err) < 0)
		tell_problem(instance, "cannot list the devices", &err);
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
