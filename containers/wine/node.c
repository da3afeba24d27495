/* SPDX-License-Identifier: MIT */
#include "containers/wine/node.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/json_members.h"
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
/* As Wine spells the folders: another spelling would be another folder. */
#define DRIVER_STORE SYSTEM32 "/driverstore/filerepository/" WINE_DRIVER_STORE

/* As a driver package has it; discovery finds the driver store folder by it. */
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
	int rc = path_beside_program("../libexec/gpucert/wine/make-root.sh", &script, err);
	const char *const argv[] = {script, "--check", NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = ROOT_TIMEOUT_MS};
	if (rc == 0)
		rc = path_beside_program("../libexec/gpucert/wine/wine-run", &starter, err);
	if (rc == 0)
		rc = process_ask(&spec, &root, err);
	if (rc < 0)
		return rc == ERROR_IO ? error_wrap(err, rc, "%s", script) : rc;
	root[strcspn(root, "\n")] = '\0';
	node->starter = arena_string(&node->arena, starter);
	node->root = arena_string(&node->arena, root);
	return root[0] != '\0' ? 0 : error_set(err, ERROR_IO, "%s: told of no root", script);
}

static int find_programs(struct wine_node *node, const char *programs, struct error *err)
{
	static const char *const places[] = {"../libexec/gpucert/windows", "../../windows"};
	node->programs = arena_string(&node->arena, programs);
	if (programs != NULL)
		return file_is_directory(programs)
			       ? 0
			       : error_set(err, ERROR_NOT_FOUND, "%s: no such folder", programs);
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
	char *folder CLEANUP_FREE = path != NULL ? path_directory(path) : NULL;
	int rc = folder != NULL ? file_make_directories(folder, 0755, err) : error_memory(err);
	return rc == 0 ? file_write_atomic(path, data, size, 0644, err) : rc;
}

/* A file of the root under a name of the node. */
static int copy_file(const struct wine_node *node, const char *from, char *name, struct error *err)
{
	char *target CLEANUP_FREE = name;
	char *source CLEANUP_FREE = path_join(node->root, from);
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = source != NULL && target != NULL ? file_read(source, FILE_MAX, &data, &size, err)
						  : error_memory(err);
	return rc == 0 ? write_below(node, target, data, size, err) : rc;
}

static int write_files(const struct wine_node *node, struct error *err)
{
	char *registry CLEANUP_FREE = path_join(node->directory, "node.reg");
	int rc = registry != NULL ? wine_registry_write(registry, err) : error_memory(err);
	for (unsigned i = 0; rc == 0 && i < wine_driver_file_count; i++)
		rc = copy_file(
			node, wine_driver_files[i].source,
			text_format("files/" DRIVER_STORE "/%s", wine_driver_files[i].store_name),
			err);
	if (rc == 0)
		rc = write_below(node, "files/" DRIVER_STORE "/gpucert_wine.inf", driver_inf,
				 strlen(driver_inf), err);
	if (rc == 0)
		rc = write_below(node, "files/drive_c/windows/inf/" WINE_DRIVER_INF, driver_inf,
				 strlen(driver_inf), err);
	/* Where Wine's Vulkan loader finds one adapter for each device. */
	for (size_t i = 0; rc == 0 && i < WINE_DEVICE_COUNT; i++)
		rc = copy_file(node, VULKAN_MANIFEST, text_format("gpu-%zu.json", i), err);
	return rc;
}

/* Of DIRECTORY/wine.json. */
static const struct json_member members[] = {
	{.key = "root", .presence = JSON_REQUIRED, JSON_AT(struct wine_node, root)},
	{.key = "starter", .presence = JSON_REQUIRED, JSON_AT(struct wine_node, starter)},
	{.key = "programs", .presence = JSON_REQUIRED, JSON_AT(struct wine_node, programs)},
	{.key = "dlls", JSON_AT(struct wine_node, dlls)},
	{0},
};

static int write_description(const struct wine_node *node, struct error *err)
{
	cJSON *json CLEANUP_JSON = json_members_write(members, node);
	char *path CLEANUP_FREE = path_join(node->directory, "wine.json");
	return json != NULL && path != NULL ? json_write_file(path, json, err) : error_memory(err);
}

/* Hands the node over. */
static int take(struct wine_node *node, struct wine_node *out, struct error *err)
{
	if (node->arena.failed)
		return error_memory(err);
	*out = *node;
	*node = (struct wine_node){0};
	return 0;
}

int wine_dlls_list(const char *folder, struct text_list *out, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (folder == NULL || folder[0] == '\0')
		return 0;
	int rc = file_list(folder, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (text_glob("*.dll", names.items[i]))
			rc = text_list_take(out, path_join(folder, names.items[i]), err);
	}
	if (rc == 0 && out->count == 0)
		return error_set(err, ERROR_NOT_FOUND, "%s: no *.dll there", folder);
	return rc;
}

int wine_dlls_add_digests(const char *folder, struct text *key, struct error *err)
{
	struct text_list dlls CLEANUP_TEXT_LIST = {0};
	int rc = wine_dlls_list(folder, &dlls, err);
	for (size_t i = 0; rc == 0 && i < dlls.count; i++) {
		char digest[DIGEST_SIZE] = "";
		rc = digest_file(dlls.items[i], digest, NULL, err);
		text_addf(key, "%s %s\n", path_base(dlls.items[i]), digest);
	}
	return rc;
}

int wine_node_make(const char *directory, const char *programs, const char *dlls,
		   struct wine_node *out, struct error *err)
{
	struct wine_node node CLEANUP_WINE_NODE = {0};
	struct text_list found CLEANUP_TEXT_LIST = {0};
	node.directory = arena_string(&node.arena, directory);
	node.dlls = arena_string(&node.arena, dlls);
	int rc = find_programs(&node, programs, err);
	if (rc == 0)
		rc = wine_dlls_list(dlls, &found, err);
	if (rc == 0)
		rc = make_root(&node, err);
	if (rc == 0)
		rc = write_files(&node, err);
	if (rc == 0)
		rc = write_description(&node, err);
	return rc == 0 ? take(&node, out, err) : error_wrap(err, rc, "Wine node");
}

int wine_node_open(const char *directory, struct wine_node *out, struct error *err)
{
	struct wine_node node CLEANUP_WINE_NODE = {0};
	char *path CLEANUP_FREE = path_join(directory, "wine.json");
	cJSON *json CLEANUP_JSON = NULL;
	int rc = path != NULL ? json_read_file(path, &json, err) : error_memory(err);
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_members_read(&root, members, &node, &node.arena, err);
	node.directory = arena_string(&node.arena, directory);
	return rc == 0 ? take(&node, out, err) : error_wrap(err, rc, "%s", path);
}

/* Below the folder of the programs: a build tree, an unpacked package, or programs side by side. */
static const char *const program_folders[] = {"bin", "libexec/gpucert", "."};

int wine_node_program(const struct wine_node *node, const char *name, char **out, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(program_folders); i++) {
		char *path CLEANUP_FREE =
			text_format("%s/%s/%s", node->programs, program_folders[i], name);
		if (path == NULL)
			return error_memory(err);
		if (file_exists(path)) {
			*out = path_normalize(path);
			return *out != NULL ? 0 : error_memory(err);
		}
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "%s: no %s there (in bin, libexec/gpucert or itself)", node->programs,
			 name);
}

int wine_node_probes(const struct wine_node *node, struct text_list *out, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(program_folders); i++) {
		char *folder CLEANUP_FREE = path_join(node->programs, program_folders[i]);
		struct text_list names CLEANUP_TEXT_LIST = {0};
		int rc = folder != NULL ? 0 : error_memory(err);
		if (rc == 0 && !file_is_directory(folder))
			continue;
		if (rc == 0)
			rc = file_list(folder, &names, err);
		for (size_t j = 0; rc == 0 && j < names.count; j++) {
			if (text_glob("probe-*.exe", names.items[j]))
				rc = text_list_take(out, path_join(folder, names.items[j]), err);
		}
		if (rc < 0 || out->count > 0)
			return rc;
	}
	return error_set(err, ERROR_NOT_FOUND, "%s: no probe-*.exe there", node->programs);
}

int wine_node_command(const struct wine_node *node, unsigned timeout_s, struct text_list *words,
		      struct error *err)
{
	char *timeout CLEANUP_FREE = text_format("%u", timeout_s != 0 ? timeout_s : A_DAY_S);
	char *files CLEANUP_FREE = path_join(node->directory, "files");
	char *registry CLEANUP_FREE = path_join(node->directory, "node.reg");
	const char *const all[] = {node->starter, "--headless", "--timeout", timeout, "--files",
				   files,	  "--registry", registry,    "--"};
	int rc = timeout != NULL && files != NULL && registry != NULL ? 0 : error_memory(err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(all); i++)
		rc = text_list_add(words, all[i], err);
	return rc;
}

int wine_node_version(const struct wine_node *node, char **out, struct error *err)
{
	static const char mark[] = "\n;; Version: ";
	char *path CLEANUP_FREE = path_join(node->root, "/usr/share/wine/wine.inf");
	char *text CLEANUP_FREE = NULL;
	int rc = path != NULL ? file_read(path, FILE_MAX, &text, NULL, err) : error_memory(err);
	if (rc < 0)
		return rc;
	const char *version = strstr(text, mark);
	if (version == NULL)
		return error_set(err, ERROR_FORMAT, "%s: tells no version", path);
	version += strlen(mark);
	*out = strndup(version, strcspn(version, "\r\n"));
	return *out != NULL ? 0 : error_memory(err);
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
	int rc = variable != NULL ? wine_node_program(node, "gpu-discovery.exe", &program, err)
				  : error_memory(err);
	if (rc == 0)
		rc = wine_node_command(node, DISCOVERY_TIMEOUT_S, &words, err);
	if (rc == 0)
		rc = text_list_add(&words, program, err);
	if (rc == 0)
		rc = text_list_add(&words, "--record", err);
	if (rc == 0)
		rc = text_list_addf(&words, err, "Z:%s", path);
	spec.argv = (const char *const *)words.items;
	if (rc == 0)
		rc = process_ask(&spec, &output, err);
	return rc < 0 ? error_wrap(err, rc, "gpu-discovery.exe under Wine") : 0;
}
