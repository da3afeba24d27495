/* SPDX-License-Identifier: MIT */
#include "base/elf_internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <elf.h>
#include <string.h>

enum {
	CONFIG_DEPTH_MAX = 8,
	CONFIG_SIZE_MAX = 256 * 1024, /* bytes */
};

static char *search_host_path(const struct elf_search *search, const char *path)
{
	return text_format("%s%s", search->root, path);
}

static int config_read(struct elf_search *search, const char *path, unsigned depth,
		       struct error *err);

/* "include GLOB": wildcards in the last part only; relative to the including file. */
static int config_include(struct elf_search *search, const char *pattern, const char *path,
			  unsigned depth, struct error *err)
{
	char *base CLEANUP_FREE = path_directory(path);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = 0;
	char *full CLEANUP_FREE =
		path_is_absolute(pattern) ? memory_copy(pattern) : path_join(base, pattern);
	char *directory CLEANUP_FREE = path_directory(full);
	char *host CLEANUP_FREE = search_host_path(search, directory);
	if (base == NULL || full == NULL || directory == NULL || host == NULL)
		return error_memory(err);
	if (file_list(host, &names, NULL) < 0)
		return 0; /* as the loader's own tool does */
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *included CLEANUP_FREE = path_join(directory, names.items[i]);
		if (included == NULL)
			return error_memory(err);
		if (text_glob(path_base(full), names.items[i]))
			rc = config_read(search, included, depth + 1, err);
	}
	return rc;
}

static int config_line(struct elf_search *search, char *line, const char *path, unsigned depth,
		       struct error *err)
{
	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t\r");
	size_t length = strlen(line);
	while (length > 0 && strchr(" \t\r/", line[length - 1]) != NULL && length > 1)
		line[--length] = '\0';
	if (text_starts_with(line, "include") && (line[7] == ' ' || line[7] == '\t')) {
		struct text_list patterns CLEANUP_TEXT_LIST = {0};
		for (char *blank = line; (blank = strchr(blank, '\t')) != NULL;)
			*blank = ' ';
		text_list_split(&patterns, line + 7, ' ');
		int rc = text_list_check(&patterns, err);
		for (size_t i = 0; rc == 0 && i < patterns.count; i++) {
			if (patterns.items[i][0] != '\0')
				rc = config_include(search, patterns.items[i], path, depth, err);
		}
		return rc;
	}
	if (path_is_absolute(line) && !text_list_has(&search->configured, line))
		text_list_add(&search->configured, line);
	return text_list_check(&search->configured, err);
}

static int config_read(struct elf_search *search, const char *path, unsigned depth,
		       struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char *resolved CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	if (depth > CONFIG_DEPTH_MAX || file_resolve(search->root, path, &resolved, NULL) < 0)
		return 0;
	char *host CLEANUP_FREE = search_host_path(search, resolved);
	if (host == NULL)
		return error_memory(err);
	int rc = file_read(host, CONFIG_SIZE_MAX, &data, NULL, err);
	if (rc == 0)
		text_list_split(&lines, data, '\n');
	for (size_t i = 0; rc == 0 && i < lines.count; i++)
		rc = config_line(search, lines.items[i], path, depth, err);
	return rc;
}

int elf_search_open(const char *root, struct elf_search **out, struct error *err)
{
	struct elf_search *search = memory_allocate(1, sizeof(*search));
	if (search == NULL)
		return error_memory(err);
	bool prefixed = root != NULL && root[0] != '\0' && strcmp(root, "/") != 0;
	search->root = memory_copy(prefixed ? root : "");
	int rc = search->root != NULL ? config_read(search, "/etc/ld.so.conf", 0, err)
				      : error_memory(err);
	if (rc < 0)
		elf_search_free(search);
	else
		*out = search;
	return rc;
}

void elf_search_free(struct elf_search *search)
{
	for (size_t i = 0; i < search->known_count; i++)
		elf_info_free(&search->known[i]->info);
	free(search->root);
	text_list_free(&search->configured);
	arena_free(&search->arena);
	free(search);
}

int elf_search_file(struct elf_search *search, const char *path, const struct elf_known **out,
		    struct error *err)
{
	char *resolved CLEANUP_FREE = NULL;
	int rc = file_resolve(search->root, path, &resolved, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < search->known_count; i++) {
		*out = search->known[i];
		if (strcmp((*out)->resolved, resolved) != 0)
			continue;
		return (*out)->valid ? 0
				     : error_set(err, ERROR_FORMAT, "%s: not a readable ELF file",
						 (*out)->source);
	}
	char *source CLEANUP_FREE = search_host_path(search, resolved);
	struct elf_known *known = arena_allocate(&search->arena, sizeof(*known));
	struct elf_known **list = arena_grow(&search->arena, search->known, search->known_count,
					     sizeof(struct elf_known *));
	if (source == NULL || known == NULL || list == NULL)
		return error_memory(err);
	search->known = list;
	known->source = arena_string(&search->arena, source);
	known->resolved = arena_string(&search->arena, resolved);
	search->known[search->known_count++] = known;
	rc = elf_read(known->source, &known->info, err);
	known->valid = rc == 0;
	*out = known;
	return rc;
}

/* The loader's default directories by machine, with the multiarch name of Debian and its derivatives. */
static const char *search_multiarch(const struct elf_info *info)
{
	static const struct {
		unsigned machine, bits;
		const char *name;
	} known[] = {
		{EM_X86_64, 64, "x86_64-linux-gnu"},
		{EM_X86_64, 32, "x86_64-linux-gnux32"},
		{EM_386, 32, "i386-linux-gnu"},
		{EM_AARCH64, 64, "aarch64-linux-gnu"},
		{EM_ARM, 32, "arm-linux-gnueabihf"},
		{EM_RISCV, 64, "riscv64-linux-gnu"},
		{EM_PPC64, 64, "powerpc64le-linux-gnu"},
		{EM_LOONGARCH, 64, "loongarch64-linux-gnu"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].machine == info->machine && known[i].bits == info->bits)
			return known[i].name;
	}
	return NULL;
}

void elf_default_directories(const struct elf_info *info, struct text_list *out)
{
	const char *multiarch = search_multiarch(info);
	const char *plain[] = {
		info->bits == 64 ? "/lib64" : "/lib32",
		info->bits == 64 ? "/usr/lib64" : "/usr/lib32",
		"/lib",
		"/usr/lib",
	};
	if (multiarch != NULL) {
		text_list_addf(out, "/lib/%s", multiarch);
		text_list_addf(out, "/usr/lib/%s", multiarch);
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		text_list_add(out, plain[i]);
}

/* The length of "$NAME" or "${NAME}" at the beginning of `string`, 0 when it is another token. */
static size_t search_token(const char *string, const char *name)
{
	size_t length = strlen(name);
	if (string[1] == '{' && strncmp(string + 2, name, length) == 0 && string[2 + length] == '}')
		return length + 3;
	return strncmp(string + 1, name, length) == 0 ? length + 1 : 0;
}

char *elf_expand(const char *entry, const char *origin, const struct elf_info *info)
{
	const char *multiarch = search_multiarch(info);
	struct text expanded CLEANUP_TEXT = {0};
	for (const char *p = entry; *p != '\0';) {
		size_t token = *p == '$' ? search_token(p, "ORIGIN") : 0;
		size_t lib = *p == '$' ? search_token(p, "LIB") : 0;
		if (*p != '$') {
			text_append(&expanded, p++, 1);
		} else if (token != 0) {
			text_add(&expanded, origin);
			p += token;
		} else if (lib != 0 && multiarch != NULL) {
			text_addf(&expanded, "lib/%s", multiarch);
			p += lib;
		} else {
			return NULL;
		}
	}
	return text_take(&expanded);
}

int elf_search_directories(struct elf_search *search, const struct text_list *directories,
			   const char *origin, const char *name, const struct elf_info *fits,
			   const struct elf_known **out, char **destination, struct error *err)
{
	text_each (entry, directories) {
		char *directory CLEANUP_FREE = elf_expand(entry, origin, fits);
		if (directory == NULL || !path_is_absolute(directory))
			continue;
		char *path CLEANUP_FREE = path_join(directory, name);
		int rc = path != NULL ? elf_search_file(search, path, out, err) : error_memory(err);
		if (rc < 0 || (*out)->info.bits != fits->bits ||
		    (*out)->info.machine != fits->machine)
			continue;
		*destination = path_normalize(path);
		return *destination != NULL ? 0 : error_memory(err);
	}
	return error_set(err, ERROR_NOT_FOUND, "%s: not found in any library directory", name);
}
