/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "conformance/kubelet/endpoints.h"
#include "rpc/headers.h"
#include "rpc/message.h"

#include <ctype.h>
#include <string.h>

enum {
	BACKOFF_FIRST_MS = 1000,
	HEADER_LIST_MAX = 60 * 1024, /* room for an error's whole text; grpc-go accepts 16 MiB */
};

struct dial {
	uv_loop_t *loop;
	char *address, *authority;
	struct rpc_channel *channel; /* the attempt under way */
	struct timer *deadline, *backoff;
	uint64_t backoff_ms;
	unsigned attempts;
	struct error reason;
	void (*done)(const struct dial_result *result, void *user);
	void *user;
};

static void dial_end(struct dial *dial)
{
	timer_cancel(&dial->deadline);
	timer_cancel(&dial->backoff);
	rpc_channel_close(STEAL(dial->channel));
}

void dial_free(struct dial *dial)
{
	if (dial == NULL)
		return;
	dial_end(dial);
	free(dial->address);
	free(dial->authority);
	free(dial);
}

static void on_ready(struct rpc_channel *channel, void *user)
{
	struct dial *dial = user;
	if (dial->channel != channel)
		return;
	struct dial_result result = {.channel = channel, .attempts = dial->attempts, .reason = ""};
	dial->channel = NULL;
	dial_end(dial);
	dial->done(&result, dial->user);
}

static void dial_try(void *user);

static void dial_try_later(struct dial *dial)
{
	timer_cancel(&dial->backoff);
	if (timer_start(dial->loop, dial->backoff_ms, 0, dial_try, dial, &dial->backoff,
			&dial->reason) == 0)
		dial->backoff_ms = dial->backoff_ms * 8 / 5;
}

static void on_lost(struct rpc_channel *channel, const struct error *why, void *user)
{
	struct dial *dial = user;
	if (dial->channel != channel)
		return;
	dial->reason = *why;
	dial_try_later(dial);
}

static void dial_try(void *user)
{
	struct dial *dial = user;
	struct rpc_channel_options options = {.limits = {.header_list_max = HEADER_LIST_MAX},
					      .authority = dial->authority,
					      .redials = true,
					      .on_ready = on_ready,
					      .on_lost = on_lost,
					      .user = dial};
	rpc_channel_close(STEAL(dial->channel));
	dial->attempts++;
	if (rpc_channel_open(dial->loop, dial->address, &options, &dial->channel, &dial->reason) !=
	    0)
		dial_try_later(dial);
}

static void on_deadline(void *user)
{
	struct dial *dial = user;
	struct dial_result result = {.attempts = dial->attempts,
				     .reason = dial->reason.code != 0 ? dial->reason.text
								      : "no SETTINGS frame came"};
	dial_end(dial);
	dial->done(&result, dial->user);
}

int dial_start(uv_loop_t *loop, const char *socket, const char *authority, uint64_t timeout_ms,
	       void (*done)(const struct dial_result *result, void *user), void *user,
	       struct dial **out, struct error *err)
{
	struct dial *dial = memory_allocate(1, sizeof(*dial));
	*dial = (struct dial){
		.loop = loop, .backoff_ms = BACKOFF_FIRST_MS, .done = done, .user = user};
	dial->address = text_format("unix:%s", socket);
	dial->authority = authority == NULL ? NULL : memory_copy(authority);
	int rc = timer_start(loop, timeout_ms, 0, on_deadline, dial, &dial->deadline, err);
	if (rc < 0) {
		dial_free(dial);
		return rc;
	}
	dial_try(dial);
	*out = dial;
	return 0;
}

/* net/url, (*Error).Error: the first `size` bytes of the target are the URL at fault. */
static void refuse_url(struct text *refusal, const char *target, size_t size, const char *cause)
{
	char *url CLEANUP_FREE = memory_copy_start(target, size);
	text_add(refusal, "parse ");
	go_quote(refusal, url);
	text_addf(refusal, ": %s", cause);
}

/* net/url, unescape: whether each '%' of the part begins an escape; else the cause. */
static bool is_escaped(const char *part, size_t size, struct text *cause)
{
	for (const char *at = part; at < part + size; at++) {
		size_t left = (size_t)(part + size - at);
		if (*at != '%' ||
		    (left >= 3 && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])))
			continue;
		char *escape CLEANUP_FREE = memory_copy_start(at, left < 3 ? left : 3);
		text_add(cause, "invalid URL escape ");
		go_quote(cause, escape);
		return false;
	}
	return true;
}

char *dial_path(const char *socket, struct text *refusal)
{
	char *target CLEANUP_FREE = text_format("passthrough:///%s", socket);
	char *path CLEANUP_FREE = memory_copy_start(socket, strcspn(socket, "?#"));
	struct text decoded CLEANUP_TEXT = {0};
	struct text cause CLEANUP_TEXT = {0};
	const char *fragment = target + strcspn(target, "#");
	size_t size = (size_t)(fragment - target);
	bool has_control = false;
	for (size_t i = 0; i < size; i++)
		has_control = has_control || (unsigned char)target[i] < ' ' || target[i] == 0x7f ||
			      text_starts_with(target + i, MESSAGE_NUL);

	if (has_control)
		refuse_url(refusal, target, size, "net/url: invalid control character in URL");
	else if (!is_escaped(path, strlen(path), &cause))
		refuse_url(refusal, target, size, text_string(&cause));
	else if (!is_escaped(fragment, strlen(fragment), &cause))
		refuse_url(refusal, target, strlen(target), text_string(&cause));
	if (refusal->size != 0)
		return NULL;

	/* A socket's address ends at NUL. */
	char *nul = strstr(path, "%00");
	if (nul != NULL)
		*nul = '\0';
	percent_decode(&decoded, path);
	return text_take(&decoded);
}
