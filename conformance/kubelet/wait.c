/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/kubelet/state.h"

#include <string.h>

struct interruptible {
	const struct kubelet *kubelet;
	loop_condition *done;
	void *user;
};

static bool is_done_or_interrupted(void *user)
{
	const struct interruptible *wait = user;
	return wait->done(wait->user) || wait->kubelet->interrupt != NULL;
}

int kubelet_wait(struct kubelet *kubelet, loop_condition *done, void *user, uint64_t timeout_ms,
		 const char *what, struct error *err)
{
	struct interruptible wait = {kubelet, done, user};
	int rc = loop_wait(kubelet->loop, is_done_or_interrupted, &wait, timeout_ms, what, err);
	if (rc != 0 || done(user))
		return rc;
	return error_set(err, ERROR_CANCELLED, "waiting for %s: %s", what, kubelet->interrupt);
}

void kubelet_interrupt(struct kubelet *kubelet, const char *reason)
{
	free(kubelet->interrupt);
	kubelet->interrupt = reason == NULL ? NULL : memory_copy(reason);
}

struct registration_wait {
	const struct kubelet *kubelet;
	const char *resource;
	size_t from;
	bool accepted; /* only one that is answered with RPC_OK counts */
	const struct kubelet_registration *found, *refused; /* the last refusal */
};

static bool registration_found(void *user)
{
	struct registration_wait *wait = user;
	wait->refused = NULL;
	registration_each (seen, wait->kubelet, wait->from) {
		bool answered = seen->answered_ms != 0;
		if ((!answered && !seen->abandoned) ||
		    (wait->resource != NULL && seen->resource != NULL &&
		     strcmp(seen->resource, wait->resource) != 0))
			continue;
		if (answered && seen->code != RPC_OK)
			wait->refused = seen;
		if (!wait->accepted || (answered && seen->code == RPC_OK)) {
			wait->found = seen;
			return true;
		}
	}
	return false;
}

int kubelet_wait_registration(struct kubelet *kubelet, const char *resource, size_t from,
			      bool accepted, uint64_t timeout_ms,
			      const struct kubelet_registration **out, struct error *err)
{
	struct registration_wait wait = {
		.kubelet = kubelet, .resource = resource, .from = from, .accepted = accepted};
	struct error why = {0};
	char *what CLEANUP_FREE =
		text_format("a%s registration of %s", accepted ? "n accepted" : "",
			    resource == NULL ? "any resource" : resource);
	int rc = kubelet_wait(kubelet, registration_found, &wait, timeout_ms, what, &why);
	if (rc == 0) {
		if (out != NULL)
			*out = wait.found;
		return 0;
	}
	if (wait.refused == NULL)
		return error_copy(err, &why);
	return error_set(err, rc, "%s; the last attempt was refused: %s", why.text,
			 wait.refused->message);
}

struct resource_wait {
	const struct kubelet *kubelet;
	const char *resource;
};

static bool resource_is_listed(void *user)
{
	const struct resource_wait *wait = user;
	struct kubelet_resource_status status =
		kubelet_resource_status(wait->kubelet, wait->resource);
	return status.connected && status.listed;
}

int kubelet_wait_listed(struct kubelet *kubelet, const char *resource, uint64_t timeout_ms,
			struct error *err)
{
	struct resource_wait wait = {kubelet, resource};
	char *what CLEANUP_FREE = text_format("the device list of %s", resource);
	return kubelet_wait(kubelet, resource_is_listed, &wait, timeout_ms, what, err);
}
