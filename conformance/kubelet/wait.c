/* SPDX-License-Identifier: MIT */
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
	size_t from;
	const struct kubelet_registration *refused; /* the last one */
};

static bool registration_found(void *user)
{
	struct registration_wait *wait = user;
	wait->refused = NULL;
	registration_each (seen, wait->kubelet, wait->from) {
		if (seen->answered_ms != 0 && seen->code == RPC_OK)
			return true;
		if (seen->answered_ms != 0)
			wait->refused = seen;
	}
	return false;
}

int kubelet_wait_registration(struct kubelet *kubelet, size_t from, uint64_t timeout_ms,
			      struct error *err)
{
	struct registration_wait wait = {.kubelet = kubelet, .from = from};
	struct error why = {0};
	int rc = kubelet_wait(kubelet, registration_found, &wait, timeout_ms,
			      "an accepted registration of any resource", &why);
	if (rc == 0)
		return 0;
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
