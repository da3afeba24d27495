/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/registration.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "reference-plugin/inventory/wire.h"
#include "reference-plugin/serving/service.h"
#include "rpc/client.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

static const char method[] = "/v1beta1.Registration/Register";

struct registration {
	struct registration_options options;
	const char *endpoint;
	struct rpc_channel *channel; /* of the attempt under way */
	unsigned failures;	     /* in a row */
	bool attempted;
	uint64_t last_attempt_ms;
	struct socket_file kubelet; /* as it was at the last attempt */
	uv_timer_t timer;	    /* to the next attempt */
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

static void attempt(struct registration *registration);

static void on_timer(uv_timer_t *timer)
{
	attempt(timer->data);
}

int registration_new(const struct registration_options *options, struct registration **out,
		     struct error *err)
{
	struct registration *registration = calloc(1, sizeof(*registration));

	if (registration == NULL)
		return error_memory(err);
	registration->options = *options;
	(void)uv_timer_init(options->loop, &registration->timer);
	registration->timer.data = registration;
	*out = registration;
	return 0;
}

static void close_channel(struct registration *registration)
{
	rpc_channel_close(STEAL(registration->channel));
}

static void fail(struct registration *registration, const struct error *why)
{
	uint32_t random = 0;
	uint64_t delay = 0;

	(void)uv_random(NULL, NULL, &random, sizeof(random), 0, NULL);
	registration->failures++;
	delay = backoff_ms(registration->failures, random);
	(void)uv_timer_start(&registration->timer, on_timer, delay, 0);
	registration->options.on_failure(why, delay, registration->options.user);
}

static void on_reply(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct registration *registration = user;
	struct error why = {0};

	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
	/* Without a channel it was given up. */
	if (registration->channel == NULL)
		return;
	if (status->code != RPC_OK)
		(void)error_set(&why, ERROR_REMOTE, "%s: %s", rpc_code_name(status->code),
				status->message);
	close_channel(registration);
	if (why.code != 0) {
		fail(registration, &why);
		return;
	}
	registration->failures = 0;
	registration->options.on_success(registration->kubelet, registration->options.user);
}

static int send_request(struct registration *registration, struct error *err)
{
	const struct registration_options *options = &registration->options;
	V1beta1__DevicePluginOptions plugin_options = service_plugin_options();
	V1beta1__RegisterRequest request;
	char *address CLEANUP_FREE = text_format("unix:%s", options->kubelet_socket);
	int rc = 0;

	if (address == NULL)
		return error_memory(err);
	v1beta1__register_request__init(&request);
	request.version = wire_string("v1beta1");
	request.endpoint = wire_string(registration->endpoint);
	request.resource_name = wire_string(options->resource_name);
	request.options = &plugin_options;
	rc = rpc_channel_open(options->loop, address, NULL, &registration->channel, err);
	if (rc < 0)
		return rc;
	return rpc_unary(registration->channel, method, &request.base, &v1beta1__empty__descriptor,
			 options->timeout_ms, on_reply, registration, NULL, err);
}

static void attempt(struct registration *registration)
{
	struct error err = {0};

	registration->attempted = true;
	registration->last_attempt_ms = uv_now(registration->options.loop);
	registration->kubelet = socket_file_at(registration->options.kubelet_socket);
	if (send_request(registration, &err) == 0)
		return;
	close_channel(registration);
	fail(registration, &err);
}

void registration_start(struct registration *registration, const char *endpoint)
{
	uint64_t now_ms = uv_now(registration->options.loop);
	uint64_t due_ms = registration->last_attempt_ms + BACKOFF_FIRST_MS;

	registration_stop(registration);
	registration->endpoint = endpoint;
	registration->failures = 0;
	if (!registration->attempted || now_ms >= due_ms)
		attempt(registration);
	else
		(void)uv_timer_start(&registration->timer, on_timer, due_ms - now_ms, 0);
}

void registration_stop(struct registration *registration)
{
	(void)uv_timer_stop(&registration->timer);
	close_channel(registration);
}

static void on_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void registration_close(struct registration *registration)
{
	if (registration == NULL)
		return;
	registration_stop(registration);
	uv_close((uv_handle_t *)&registration->timer, on_timer_closed);
}
