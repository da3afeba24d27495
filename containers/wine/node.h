/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The Wine node: a Windows node on a Linux machine. Discovery and device plugin run as Windows
 * programs under Wine; containers are Linux containers in which Wine runs Windows programs. This
 * is the basis of both sides; containers/wine/translation.h maps a plugin's answer into such a
 * container.
 *
 *   DIRECTORY/wine.json      root and programs
 *   DIRECTORY/files          overlays the prefix: the driver store and its INF (wine-run --files)
 *   DIRECTORY/node.reg       is planted at each start (wine-run --registry)
 *   DIRECTORY/gpu-N.json     Vulkan manifests: one adapter each
 */

#include "base/arena.h"
#include "base/text.h"

#define WINE_NODE_PLUGIN "device-plugin-wddm.exe" /* the reference plugin of such a node */

#define WINE_NODE_PACKAGES "/var/lib/dpkg/status" /* in the root: its packages */

struct wine_node {
	struct arena arena; /* owns the strings */
	const char *directory;
	const char *root;     /* made by make-root.sh */
	const char *starter;  /* the script wine-run */
	const char *programs; /* folder of the Windows programs: bin/, libexec/gpucert/, or flat */
	const char *dlls;     /* folder of DLLs for containers (wine_dlls_list()); "": none */
};

/* Makes the root when this machine has none (minutes), and the node's files in `directory`, which
 * must exist. `programs` NULL: libexec/gpucert/windows of the installation, or the build tree
 * "windows" next to this one. `dlls`: as in struct wine_node. ERROR_UNSUPPORTED: this machine cannot
 * run Windows programs, with the reason; ERROR_NOT_FOUND: no Windows programs, or no DLLs. */
int wine_node_make(const char *directory, const char *programs, const char *dlls,
		   struct wine_node *out, struct error *err);

/* Reads what wine_node_make() left in `directory`. */
int wine_node_open(const char *directory, struct wine_node *out, struct error *err);
void wine_node_free(struct wine_node *node);

#define CLEANUP_WINE_NODE __attribute__((cleanup(wine_node_free)))

/* The host path of "gpu-discovery.exe". ERROR_NOT_FOUND names the folders that were searched. */
int wine_node_program(const struct wine_node *node, const char *name, char **out,
		      struct error *err);

/* The probe-*.exe of the node, sorted. ERROR_NOT_FOUND when there are none. */
int wine_node_probes(const struct wine_node *node, struct text_list *out, struct error *err);

/* The paths of the *.dll in `folder`, sorted; none without a folder (NULL, ""). In containers a DLL
 * named like one of Wine's replaces it, and any other is put into System32; names are lower-case.
 * ERROR_NOT_FOUND: the folder does not exist, or has none. */
int wine_dlls_list(const char *folder, struct text_list *out, struct error *err);

/* Adds a line with name and digest to `key`: of a file, or of each DLL in a folder. */
int wine_digest_add(const char *path, struct text *key, struct error *err);
int wine_dlls_add_digests(const char *folder, struct text *key, struct error *err);

/* Adds the words that run a program on the node, not including the program: wine-run with its
 * options. `timeout_s` 0: a day, since the caller ends it. */
void wine_node_command(const struct wine_node *node, unsigned timeout_s, struct text_list *words);

/* "Wine 10.0", from the root's own files. Caller frees. ERROR_FORMAT: they have no version. */
int wine_node_version(const struct wine_node *node, char **out, struct error *err);

/* "VK_DRIVER_FILES=...", which such a program needs in its environment. Caller frees. */
char *wine_node_environment(const struct wine_node *node);

/* Runs gpu-discovery.exe, which writes a recorded node to `path`. */
int wine_node_record(const struct wine_node *node, const char *path, struct error *err);
