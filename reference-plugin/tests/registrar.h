/* SPDX-License-Identifier: MIT */
#pragma once

/* The registration half of a kubelet: kubelet.sock in a plugin directory. As the real one it dials
 * the endpoint and asks for its options before it answers. */

#include "base/error.h"
#include "rpc/server.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

enum registrar_mode {
	REGISTRAR_ACCEPT,
	REGISTRAR_REFUSE, /* answers UNKNOWN, as a kubelet does for a version it does not know */
	REGISTRAR_SILENT, /* never answers */
	REGISTRAR_LATE,	  /* takes the endpoint, and never answers */
};

enum { REGISTRAR_ENTRIES_MAX = 64 };

struct registrar_entry {
	char version[16];
	char endpoint[108];
	char resource[128];
	bool preferred_allocation; /* of RegisterRequest.options */
	bool pre_start;
	bool options_agree; /* GetDevicePluginOptions says the same */
	bool accepted;
};

struct registrar {
	uv_loop_t *loop;
	const char *directory;
	enum registrar_mode mode;
	struct rpc_server *server;
	size_t attempts; /* Register calls */
	struct registrar_entry entries[REGISTRAR_ENTRIES_MAX];
	size_t count; /* entries: calls whose endpoint was dialled */
};

/* Listens on DIRECTORY/kubelet.sock; `loop` and `directory` are set. */
int registrar_open(struct registrar *registrar, struct error *err);

/* Removes kubelet.sock and cuts the connections. */
void registrar_close(struct registrar *registrar);

/* Removes every socket in the directory, as a kubelet does when it starts. */
void registrar_remove_sockets(const struct registrar *registrar);

/* The newest accepted entry of a resource; NULL when there is none. */
const struct registrar_entry *registrar_find(const struct registrar *registrar,
					     const char *resource);

/* Accepted entries of a resource. */
size_t registrar_accepted(const struct registrar *registrar, const char *resource);
