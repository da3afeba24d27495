/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/instance.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "reference-plugin/serving/backoff.h"
#include "reference-plugin/serving/registration.h"
#include "reference-plugin/serving/service.h"
#include "reference-plugin/serving/socket_file.h"

#include <string.h>

enum { STEADY_MS = 60 * 1000 };

struct instance {
	struct instance_options options;
	const char *resource_name;
	char *label; /* of the resource, in the names of sockets */
	struct registration *registration;
	struct service *service; /* NULL while one is closing and when one could not be opened */
	bool service_closing;
	char *socket_path;
	struct socket_file own;
	struct socket_file attempted; /* the kubelet's, as it was at the last attempt to register */
	struct socket_file kubelet; /* as it was when registered with, or the service was opened */
	bool registered;	    /* and no further attempt is under way */
	bool superseded;	    /* a newer instance serves the resource */
	unsigned losses;	    /* of the kubelet's stream, in a row */
	uv_timer_t *look;	    /* whether the kubelet watches again */
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

static void on_attempt(void *user)
{
	struct instance *instance = user;

	instance->attempted = socket_file_at(instance->options.config->kubelet_socket);
}

static void register_endpoint(struct instance *instance)
{
	instance->registered = false;
	registration_start(instance->registration, path_base(instance->socket_path));
}

static bool newer_instance_serves(const struct instance *instance)
{
	const struct config *config = instance->options.config;

	return socket_file_newer_serves(config->plugin_dir, config->program->short_name,
					instance->label, path_base(instance->socket_path));
}

/* A kubelet that is gone is waited for elsewhere, and the newest of several instances is the one
 * that registers. */
static void on_look(uv_timer_t *timer)
{
	struct instance *instance = timer->data;

	if (!instance->registered || service_is_watched(instance->service) ||
	    !socket_file_at(instance->options.config->kubelet_socket).exists)
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
	(void)uv_timer_start(instance->look, on_look, backoff_ms(instance->losses, 0), 0);
}

/* Kubelets up to 1.36 end the stream of the newer of two instances when that of the older ends. */
static void on_unwatched(uint64_t watched_ms, void *user)
{
	struct instance *instance = user;

	if (watched_ms >= STEADY_MS)
		instance->losses = 0;
	look_later(instance);
}

static void on_registered(void *user)
{
	struct instance *instance = user;

	instance->registered = true;
	if (instance->losses > 0)
		look_later(instance);
	instance->kubelet = instance->attempted;
	instance->last_problem[0] = '\0';
	log_info("%s: registered with the kubelet at %s", instance->resource_name,
		 instance->options.config->kubelet_socket);
}

static void on_not_registered(const struct error *why, uint64_t retry_ms, void *user)
{
	struct instance *instance = user;

	tell_problem(instance, "registration failed and is tried again", why);
	log_debug("%s: next attempt in %llu ms", instance->resource_name,
		  (unsigned long long)retry_ms);
}

static struct answer_rules rules_of(const struct config *config)
{
	return (struct answer_rules){
		.allocation = (enum answer_allocation)config->allocation,
		.allow_several = config->several_devices == CONFIG_SEVERAL_ALLOW,
		.skip_runtime_mounts = config->skip_runtime_mounts,
		.additional = &config->additional_mounts,
	};
}

static const struct inventory *current_inventory(void *user)
{
	const struct instance_options *options = &((struct instance *)user)->options;

	return options->inventory(options->user);
}

static void on_suspicion(void *user)
{
	const struct instance_options *options = &((struct instance *)user)->options;

	options->on_suspicion(options->user);
}

static int open_service(struct instance *instance, const char *name, struct error *err)
{
	const struct instance_options *options = &instance->options;
	struct service_options service = {
		.loop = options->loop,
		.resource = options->resource,
		.policy = (enum prefer_policy)options->config->preferred_allocation,
		.rules = rules_of(options->config),
		.inventory = current_inventory,
		.on_suspicion = on_suspicion,
		.on_unwatched = on_unwatched,
		.user = instance,
	};
	char *address CLEANUP_FREE = NULL;

	free(instance->socket_path);
	instance->socket_path = path_join(options->config->plugin_dir, name);
	if (instance->socket_path != NULL)
		address = text_format("unix:%s", instance->socket_path);
	if (address == NULL)
		return error_memory(err);
	service.address = address;
	return service_open(&service, &instance->service, err);
}

static int serve_and_register(struct instance *instance, struct error *err)
{
	const struct instance_options *options = &instance->options;
	char *name CLEANUP_FREE =
		socket_file_name(options->config->program->short_name, instance->label);
	int rc = name != NULL ? open_service(instance, name, err) : error_memory(err);

	if (rc < 0)
		return rc;
	instance->own = socket_file_at(instance->socket_path);
	instance->kubelet = socket_file_at(options->config->kubelet_socket);
	log_info("%s: serving on %s", instance->resource_name, instance->socket_path);
	instance->superseded = false;
	instance->losses = 0;
	register_endpoint(instance);
	return 0;
}

static int new_registration(struct instance *instance, struct error *err)
{
	struct registration_options registration = {
		.loop = instance->options.loop,
		.kubelet_socket = instance->options.config->kubelet_socket,
		.resource_name = instance->resource_name,
		.timeout_ms = instance->options.config->register_timeout_ms,
		.on_attempt = on_attempt,
		.on_success = on_registered,
		.on_failure = on_not_registered,
		.user = instance,
	};

	return registration_new(&registration, &instance->registration, err);
}

/* Instances of one resource know each other by the names of their sockets. */
static char *label_of(const struct instance_options *options)
{
	const char *kind = inventory_resource_name(options->resource);
	const char *name = options->config->resource_name;
	char digest[DIGEST_SIZE] = "";

	if (name[0] == '\0')
		return strdup(kind);
	digest_bytes(name, strlen(name), digest);
	return text_format("%s.%.8s", kind, digest + strlen("sha256:"));
}

static void on_look_closed(uv_handle_t *handle)
{
	free(handle);
}

static void instance_free(struct instance *instance)
{
	registration_close(instance->registration);
	if (instance->look != NULL)
		uv_close((uv_handle_t *)instance->look, on_look_closed);
	free(instance->label);
	free(instance->socket_path);
	free(instance);
}

static int new_parts(struct instance *instance, struct error *err)
{
	instance->label = label_of(&instance->options);
	instance->look = calloc(1, sizeof(*instance->look));
	if (instance->look != NULL)
		(void)uv_timer_init(instance->options.loop, instance->look);
	if (instance->label == NULL || instance->look == NULL)
		return error_memory(err);
	instance->look->data = instance;
	return new_registration(instance, err);
}

int instance_open(const struct instance_options *options, struct instance **out, struct error *err)
{
	const struct config *config = options->config;
	struct instance *instance = calloc(1, sizeof(*instance));
	int rc = 0;

	if (instance == NULL)
		return error_memory(err);
	instance->options = *options;
	instance->resource_name =
		config_resource_name(config, options->resource == INVENTORY_DISPLAY);
	rc = new_parts(instance, err);
	if (rc == 0)
		socket_file_remove_stale(config->plugin_dir, config->program->short_name,
					 instance->label);
	if (rc == 0 && file_exists(config->plugin_dir))
		rc = serve_and_register(instance, err);
	else if (rc == 0)
		log_info("%s: waiting for the directory %s", instance->resource_name,
			 config->plugin_dir);
	if (rc < 0) {
		instance_free(instance);
		return error_wrap(err, rc, "cannot serve %s",
				  inventory_resource_name(options->resource));
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
	void (*closed)(void *user) = instance->closed;
	void *closed_user = instance->closed_user;

	instance->service_closing = false;
	if (closed == NULL) {
		serve_again(instance);
		return;
	}
	instance_free(instance);
	closed(closed_user);
}

static void close_service(struct instance *instance, const char *why)
{
	registration_stop(instance->registration);
	(void)uv_timer_stop(instance->look);
	instance->registered = false;
	instance->service_closing = true;
	service_close(STEAL(instance->service), why, on_service_closed, instance);
}

static const char *reason_to_start_over(const struct instance *instance)
{
	struct socket_file own = socket_file_at(instance->socket_path);
	struct socket_file kubelet = socket_file_at(instance->options.config->kubelet_socket);

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
		if (file_exists(instance->options.config->plugin_dir))
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
	if (instance->service != NULL) {
		close_service(instance, "the device plugin is stopping");
	} else if (!instance->service_closing) {
		instance_free(instance);
		closed(user);
	}
}
