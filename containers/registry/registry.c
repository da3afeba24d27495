/* SPDX-License-Identifier: MIT */
#include "containers/registry/registry_internal.h"

#include "containers/registry/reference.h"

#include <string.h>

int registry_open(const char *host, const struct registry_options *options, struct registry **out,
		  struct error *err)
{
	struct registry *registry CLEANUP_REGISTRY = calloc(1, sizeof(*registry));
	if (registry == NULL)
		return error_memory(err);
	registry->options = *options;
	registry->retries.clock = options->clock;
	registry->may_be_plain = !options->plain_http && registry_host_is_local(host);
	registry->host = strdup(host);
	registry->origin =
		text_format("http%s://%s", options->plain_http ? "" : "s",
			    strcmp(host, "docker.io") == 0 ? "registry-1.docker.io" : host);
	if (registry->host == NULL || registry->origin == NULL)
		return error_memory(err);
	int rc = http_open(options->ca_certificate, options->stall_ms, &registry->http, err);
	if (rc == 0)
		*out = STEAL(registry);
	return rc;
}

void registry_close(struct registry **registry)
{
	struct registry *closed = STEAL(*registry);
	if (closed == NULL)
		return;
	credentials_free(&closed->credentials);
	http_close(closed->http);
	free(closed->basic);
	free(closed->token);
	free(closed->scope);
	free(closed->host);
	free(closed->origin);
	free(closed);
}

void registry_document_free(struct registry_document *document)
{
	text_free(&document->data);
}

/* Behind the origin, unless it is a URL already. */
static int answer_to(struct registry *registry, const struct registry_call *call, const char *sent,
		     struct http_exchange **out, struct error *err)
{
	bool is_url = strstr(call->target, "://") != NULL;
	char *url CLEANUP_FREE =
		text_format("%s%s%s%s%s", is_url ? "" : registry->origin, is_url ? "" : "/v2/",
			    is_url ? "" : call->name, call->target,
			    call->reference != NULL ? call->reference : "");
	struct error failure = {0};
	if (url == NULL)
		return error_memory(err);
	const struct http_request request = {
		.method = call->method,
		.url = url,
		.accept = call->accept,
		.content_type = call->content_type,
		.authorization = http_same_origin(url, registry->origin) ? sent : NULL,
		.body = call->body,
		.body_size = call->body_size,
		.offset = call->offset,
		.content_range = call->content_range,
	};
	int rc = http_begin(registry->http, &request, out, &failure);
	if (rc == 0)
		return 0;
	char *shown CLEANUP_FREE = http_shown(url);
	if (rc != ERROR_UNSUPPORTED || !registry->may_be_plain) {
		(void)error_copy(err, &failure);
		return error_wrap(err, rc, "%s %s", call->method, shown);
	}
	/* This machine's own registry does not speak TLS. */
	free(registry->origin);
	registry->origin = text_format("http://%s", registry->host);
	registry->may_be_plain = false;
	return registry->origin != NULL ? answer_to(registry, call, sent, out, err)
					: error_memory(err);
}

int registry_call_once(struct registry *registry, const struct registry_call *call,
		       struct http_exchange **out, struct error *err)
{
	struct http_exchange *answer CLEANUP_HTTP_EXCHANGE = NULL;
	char *scope CLEANUP_FREE =
		text_format("repository:%s:pull%s", call->name, call->pushes ? ",push" : "");
	if (scope == NULL)
		return error_memory(err);
	const char *sent = registry_authorization(registry, scope);
	int rc = answer_to(registry, call, sent, &answer, err);
	if (rc < 0)
		return rc;
	char *shown CLEANUP_FREE = http_shown(http_url(answer));
	if (http_status(answer) == 401) {
		rc = registry_authenticate(registry, answer, scope, sent, err);
		http_end(&answer);
		if (rc < 0)
			return error_wrap(err, rc, "%s %s", call->method, shown);
		rc = answer_to(registry, call, registry_authorization(registry, scope), &answer,
			       err);
		if (rc < 0)
			return rc;
	}
	if (http_status(answer) == 401)
		rc = registry_denied(registry, err);
	else if (http_status(answer) / 100 != 2)
		rc = registry_refusal(&registry->retries, answer, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s %s", call->method, shown);
	*out = STEAL(answer);
	return 0;
}

int registry_call(struct registry *registry, const struct registry_call *call, struct text *body,
		  struct http_exchange **out, struct error *err)
{
	struct registry_patience patience = {0};
	struct error *failure = &patience.failure;
	int rc = 0;
	do {
		text_reset(body);
		http_end(out);
		rc = registry_call_once(registry, call, out, failure);
		if (rc < 0)
			continue;
		char *shown CLEANUP_FREE = http_shown(http_url(*out));
		rc = http_read_all(*out, IMAGE_DOCUMENT_MAX, body, failure);
		if (rc < 0)
			(void)error_wrap(failure, rc, "%s %s", call->method, shown);
	} while (rc < 0 && registry_try_again(&registry->retries, &patience));
	return rc < 0 ? error_copy(err, failure) : 0;
}
