/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "reference-plugin/answer/answer_internal.h"
#include "reference-plugin/inventory/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void add_node(struct answer_node *node, const struct discovery_device *found,
		     const struct discovery_node *from)
{
	v1beta1__device_spec__init(&node->spec);
	node->spec.host_path = wire_string(from->path);
	node->spec.container_path = wire_string(from->container_path);
	node->spec.permissions = wire_string(from->permissions);
	node->device = found->id;
}

static int by_path(const void *a, const void *b)
{
	const struct answer_node *left = a;
	const struct answer_node *right = b;
	int order = strcmp(left->spec.container_path, right->spec.container_path);

	if (order == 0)
		order = strcmp(left->spec.host_path, right->spec.host_path);
	if (order == 0)
		order = strcmp(left->spec.permissions, right->spec.permissions);
	return order != 0 ? order : strcmp(left->device, right->device);
}

static bool same_node(const struct answer_node *a, const struct answer_node *b)
{
	return strcmp(a->spec.container_path, b->spec.container_path) == 0 &&
	       strcmp(a->spec.host_path, b->spec.host_path) == 0 &&
	       strcmp(a->spec.permissions, b->spec.permissions) == 0;
}

/* Devices of one vendor share nodes (/dev/nvidiactl): each is given once. */
static int drop_repeats(struct answer_node *nodes, size_t *count, struct error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		const struct answer_node *last = kept > 0 ? &nodes[kept - 1] : NULL;
		const struct answer_node *next = &nodes[i];

		if (last != NULL && same_node(last, next))
			continue;
		if (last != NULL && next->spec.container_path[0] != '\0' &&
		    strcmp(last->spec.container_path, next->spec.container_path) == 0)
			return error_set(
				err, ERROR_UNSUPPORTED,
				"devices '%s' and '%s' need different device nodes at '%s'",
				last->device, next->device, next->spec.container_path);
		nodes[kept++] = *next;
	}
	*count = kept;
	return 0;
}

static int check_node(const struct answer_host *host, const struct answer_node *node,
		      struct error *err)
{
	struct stat status;

	if (answer_stat(host, node->spec.host_path, &status) != 0)
		return error_set(err, ERROR_IO, "device '%s' needs '%s': %s", node->device,
				 node->spec.host_path, strerror(errno));
	if (!S_ISCHR(status.st_mode))
		return error_set(err, ERROR_IO,
				 "device '%s' needs '%s', which is not a character device",
				 node->device, node->spec.host_path);
	return 0;
}

int answer_add_nodes(struct answer *answer, const struct answer_request *request, struct error *err)
{
	size_t wanted = 0;
	size_t nodes = 0;
	int rc = 0;

	for (size_t i = 0; i < request->count; i++)
		wanted += request->devices[i]->node_count;
	answer->nodes = calloc(wanted + 1, sizeof(*answer->nodes));
	answer->message.devices = calloc(wanted + 1, sizeof(V1beta1__DeviceSpec *));
	if (answer->nodes == NULL || answer->message.devices == NULL)
		return error_memory(err);
	for (size_t i = 0; i < request->count; i++) {
		const struct discovery_device *found = request->devices[i];

		for (size_t j = 0; j < found->node_count; j++)
			add_node(&answer->nodes[nodes++], found, &found->nodes[j]);
	}
	qsort(answer->nodes, nodes, sizeof(*answer->nodes), by_path);
	rc = drop_repeats(answer->nodes, &nodes, err);
	for (size_t i = 0; rc == 0 && i < nodes; i++) {
		if (!request->host->recorded)
			rc = check_node(request->host, &answer->nodes[i], err);
		answer->message.devices[i] = &answer->nodes[i].spec;
	}
	answer->message.n_devices = nodes;
	return rc;
}
