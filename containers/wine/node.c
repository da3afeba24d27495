/* SPDX-License-Identifier: MIT */
#include "containers/wine/node.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/json_members.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "containers/wine/device.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROOT_TIMEOUT_MS = 20 * 60 * 1000,
	DISCOVERY_TIMEOUT_S = 60,
	A_DAY_S = 24 * 60 * 60,
	FILE_MAX = 64 * 1024 * 1024,
};

/* Of lavapipe in the root; the library is found by its bare name. */
#define VULKAN_MANIFEST "/usr/share/vulkan/icd.d/lvp_icd.json"
#define SYSTEM32	"drive_c/windows/system32"
/* Wine's spelling of the folders: another spelling would be another folder. */
#define DRIVER_STORE SYSTEM32 "/driverstore/filerepository/" WINE_DRIVER_STORE

/* As in a driver package; discovery finds the driver store folder by it. */
static const char driver_inf[] = "; SPDX-License-Identifier: MIT\r\n"
				 "[Version]\r\n"
				 "Signature=\"$Windows NT$\"\r\n"
				 "Class=Display\r\n"
				 "ClassGuid={4d36e968-e325-11ce-bfc1-08002be10318}\r\n"
				 "Provider=gpucert\r\n"
				 "DriverVer=01/01/2026,1.0.0.0\r\n"
				 "CatalogFile=gpucert_wine.cat\r\n";

void wine_node_free(struct wine_node *node)
{
	arena_free(&node->arena);
	*node = (struct wine_node){0};
}

/* The root's path, which make-root.sh prints. */
static int make_root(struct wine_node *node, struct error *err)
{
	char *script CLEANUP_FREE = NULL;
	char *starter CLEANUP_FREE = NULL;
	char *root CLEANUP_FREE = NULL;
	int rc = path_of_helper("wine/make-root.sh", &script, err);
	const char *const argv[] = {script, "--check", NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = ROOT_TIMEOUT_MS};
	if (rc == 0)
		rc = path_of_helper("wine/wine-run", &starter, err);
	if (rc == 0)
		rc = process_ask(&spec, &root, err);
	if (rc < 0)
		return rc == ERROR_IO ? error_wrap(err, rc, "%s", script) : rc;
	root[strcspn(root, "\n")] = '\0';
	node->starter = arena_string(&node->arena, starter);
	node->root = arena_string(&node->arena, root);
	if (root[0] == '\0')
		return error_set(err, ERROR_IO, "%s printed no root", script);
	return 0;
}

static int find_programs(struct wine_node *node, const char *programs, struct error *err)
{
	static const char *const places[] = {"../libexec/gpucert/windows", "../../windows"};
	node->programs = arena_string(&node->arena, programs);
	if (programs != NULL && !file_is_directory(programs))
		return error_set(err, ERROR_NOT_FOUND, "%s: no such folder", programs);
	if (programs != NULL)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *path CLEANUP_FREE = NULL;
		int rc = path_beside_program(places[i], &path, err);
		if (rc < 0)
			return rc;
		node->programs = arena_string(&node->arena, path);
		if (file_is_directory(path))
			return 0;
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "no Windows programs: build the preset \"windows\", or name their folder "
			 "with --windows-programs");
}

/* A file of the node, with the folders above it. */
static int write_below(const struct wine_node *node, const char *name, const char *data,
		       size_t size, struct error *err)
{
	char *path CLEANUP_FREE = path_join(node->directory, name);
	char *folder CLEANUP_FREE = path_directory(path);
	int rc = file_make_directories(folder, 0755, err);
	if (rc == 0)
		rc = file_write_atomic(path, data, size, 0644, err);
	return rc;
}

/* A file of the root under a name of the node. */
static int copy_file(const struct wine_node *node, const char *from, char *name, struct error *err)
{
	char *target CLEANUP_FREE = name;
	char *source CLEANUP_FREE = path_join(node->root, from);
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(source, FILE_MAX, &data, &size, err);
	if (rc == 0)
		rc = write_below(node, target, data, size, err);
	return rc;
}

/* The members of DIRECTORY/wine.json. */
static const struct json_member members[] = {
	{.key = "root", .presence = JSON_REQUIRED, JSON_AT(struct wine_node, root)},
	{.key = "starter", .presence = JSON_REQUIRED, JSON_AT(struct wine_node, starter)},
	{.key = "programs", .presence = JSON_REQUIRED, JSON_AT(struct wine_node, programs)},
	{.key = "dlls", JSON_AT(struct wine_node, dlls)},
	{0},
};

int wine_dlls_list(const char *folder, struct text_list *out, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (folder == NULL || folder[0] == '\0')
		return 0;
	int rc = file_list(folder, &names, err);
	text_each (name, &names) {
		if (text_glob("*.dll", name))
			text_list_take(out, path_join(folder, name));
	}
	if (rc == 0 && out->count == 0)
		return error_set(err, ERROR_NOT_FOUND, "%s contains no *.dll", folder);
	return rc;
}

int wine_digest_add(const char *path, struct text *key, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	int rc = digest_file(path, digest, NULL, err);
	text_addf(key, "%s %s\n", path_base(path), digest);
	return rc;
}

int wine_dlls_add_digests(const char *folder, struct text *key, struct error *err)
{
	struct text_list dlls CLEANUP_TEXT_LIST = {0};
	int rc = wine_dlls_list(folder, &dlls, err);
	for (size_t i = 0; rc == 0 && i < dlls.count; i++)
		rc = wine_digest_add(dlls.items[i], key, err);
	return rc;
}

int wine_node_make(const char *directory, const char *programs, const char *dlls,
		   struct wine_node *out, struct error *err)
{
	struct wine_node node CLEANUP_WINE_NODE = {0};
	struct text_list found CLEANUP_TEXT_LIST = {0};
	char *registry CLEANUP_FREE = path_join(directory, "node.reg");
	node.directory = arena_string(&node.arena, directory);
	node.dlls = arena_string(&node.arena, dlls);
	int rc = find_programs(&node, programs, err);
	if (rc == 0)
		rc = wine_dlls_list(dlls, &found, err);
	if (rc == 0)
		rc = make_root(&node, err);

	if (rc == 0)
		rc = wine_registry_write(registry, err);
	for (unsigned i = 0; rc == 0 && i < wine_driver_file_count; i++)
		rc = copy_file(
			&node, wine_driver_files[i].source,
			text_format("files/" DRIVER_STORE "/%s", wine_driver_files[i].store_name),
			err);
	if (rc == 0)
		rc = write_below(&node, "files/" DRIVER_STORE "/gpucert_wine.inf", driver_inf,
				 strlen(driver_inf), err);
	if (rc == 0)
		rc = write_below(&node, "files/drive_c/windows/inf/" WINE_DRIVER_INF, driver_inf,
				 strlen(driver_inf), err);
	/* From each, Wine's Vulkan loader makes one adapter. */
	for (size_t i = 0; rc == 0 && i < WINE_DEVICE_COUNT; i++)
		rc = copy_file(&node, VULKAN_MANIFEST, text_format("gpu-%zu.json", i), err);

	if (rc == 0) {
		cJSON *json CLEANUP_JSON = json_members_write(members, &node);
		char *path CLEANUP_FREE = path_join(directory, "wine.json");
		rc = json_write_file(path, json, err);
	}
	if (rc < 0)
		return error_wrap(err, rc, "Wine node");
	*out = STEAL(node);
	return 0;
}

int wine_node_open(const char *directory, struct wine_node *out, struct error *err)
{
	struct wine_node node CLEANUP_WINE_NODE = {0};
	char *path CLEANUP_FREE = path_join(directory, "wine.json");
	cJSON *json CLEANUP_JSON = NULL;
	int rc = json_read_file(path, &json, err);
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_members_read(&root, members, &node, &node.arena, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	node.directory = arena_string(&node.arena, directory);
	*out = STEAL(node);
	return 0;
}

/* Below the folder of the programs: a build tree, an unpacked package, or programs side by side. */
static const char *const program_folders[] = {"bin", "libexec/gpucert", "."};

int wine_node_program(const struct wine_node *node, const char *name, char **out, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(program_folders); i++) {
		char *path CLEANUP_FREE =
			text_format("%s/%s/%s", node->programs, program_folders[i], name);
		if (file_exists(path)) {
			*out = path_normalize(path);
			return 0;
		}
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "%s: no %s in it, nor in its folders bin and libexec/gpucert",
			 node->programs, name);
}

int wine_node_probes(const struct wine_node *node, struct text_list *out, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(program_folders); i++) {
		char *folder CLEANUP_FREE = path_join(node->programs, program_folders[i]);
		struct text_list names CLEANUP_TEXT_LIST = {0};
		if (!file_is_directory(folder))
			continue;
		int rc = file_list(folder, &names, err);
		text_each (name, &names) {
			if (text_glob("probe-*.exe", name))
				text_list_take(out, path_join(folder, name));
		}
		if (rc < 0 || out->count > 0)
			return rc;
	}
	return error_set(err, ERROR_NOT_FOUND, "%s contains no probe-*.exe", node->programs);
}

void wine_node_command(const struct wine_node *node, unsigned timeout_s, struct text_list *words)
{
	char *timeout CLEANUP_FREE = text_format("%u", timeout_s != 0 ? timeout_s : A_DAY_S);
	char *files CLEANUP_FREE = path_join(node->directory, "files");
	char *registry CLEANUP_FREE = path_join(node->directory, "node.reg");
	const char *const all[] = {node->starter, "--headless", "--timeout", timeout, "--files",
				   files,	  "--registry", registry,    "--"};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		text_list_add(words, all[i]);
}

int wine_node_version(const struct wine_node *node, char **out, struct error *err)
{
	static const char mark[] = "\n;; Version: ";
	char *path CLEANUP_FREE = path_join(node->root, "/usr/share/wine/wine.inf");
	char *text CLEANUP_FREE = NULL;
	int rc = file_read(path, FILE_MAX, &text, NULL, err);
	if (rc < 0)
		return rc;
	const char *version = strstr(text, mark);
	if (version == NULL)
		return error_set(err, ERROR_FORMAT, "%s: no version in it", path);
	version += strlen(mark);
	*out = memory_copy_start(version, strcspn(version, "\r\n"));
	return 0;
}

char *wine_node_environment(const struct wine_node *node)
{
	struct text variable CLEANUP_TEXT = {0};
	for (size_t i = 0; i < WINE_DEVICE_COUNT; i++)
		text_addf(&variable, "%s%s/gpu-%zu.json", i == 0 ? "VK_DRIVER_FILES=" : ":",
			  node->directory, i);
	return text_take(&variable);
}

int wine_node_record(const struct wine_node *node, const char *path, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	char *program CLEANUP_FREE = NULL;
	char *output CLEANUP_FREE = NULL;
	char *variable CLEANUP_FREE = wine_node_environment(node);
	const char *const env[] = {variable, NULL};
	struct process_spec spec = {.env = env, .timeout_ms = UINT64_C(2000) * DISCOVERY_TIMEOUT_S};
	int rc = wine_node_program(node, "gpu-discovery.exe", &program, err);
	if (rc == 0) {
		wine_node_command(node, DISCOVERY_TIMEOUT_S, &words);
		text_list_add(&words, program);
		text_list_add(&words, "--record");
		text_list_addf(&words, "Z:%s", path);
		spec.argv = (const char *const *)words.items;
		rc = process_ask(&spec, &output, err);
	}
	return rc < 0 ? error_wrap(err, rc, "gpu-discovery.exe under Wine") : 0;
}
