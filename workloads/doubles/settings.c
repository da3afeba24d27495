/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/settings.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The variable, or the file if the variable was removed; NULL: neither. */
static const char *words(void)
{
	static char kept[1024];
	const char *given = getenv("GPUCERT_DOUBLE");
	FILE *file = given == NULL && kept[0] == '\0' ? fopen("/opt/double/settings", "r") : NULL;
	if (file != NULL) {
		kept[fread(kept, 1, sizeof(kept) - 1, file)] = '\0';
		(void)fclose(file);
	}
	return given != NULL ? given : kept[0] != '\0' ? kept : NULL;
}

/* The rest of the word that begins with `prefix`; NULL: none. A comma or the end of the string ends
 * a word. */
static const char *find(const char *prefix)
{
	const char *word = words();
	const size_t length = strlen(prefix);
	while (word != NULL) {
		if (strncmp(word, prefix, length) == 0)
			return word + length;
		word = strchr(word, ',');
		if (word != NULL)
			word++;
	}
	return NULL;
}

static bool ends(const char *rest)
{
	return rest != NULL && (*rest == '\0' || *rest == ',');
}

bool setting_has(const char *word)
{
	return ends(find(word));
}

/* An opened node stays open. */
static bool lacks_node(void)
{
	static int fd = -1;
	char path[256] = "";
	if (fd < 0 && setting_text("node", path, sizeof(path)))
		fd = open(path, O_RDWR);
	return path[0] != '\0' && fd < 0;
}

size_t setting_number(const char *key, size_t otherwise)
{
	const char *rest = find(key);
	if (strcmp(key, "devices") == 0 && lacks_node())
		return 0;
	return rest != NULL && *rest == '=' ? strtoul(rest + 1, NULL, 10) : otherwise;
}

bool setting_text(const char *key, char *out, size_t size)
{
	const char *rest = find(key);
	const size_t length = rest != NULL && *rest == '=' ? strcspn(rest + 1, ",") : size;
	if (length >= size)
		return false;
	memcpy(out, rest + 1, length);
	out[length] = '\0';
	return true;
}

static const char *find_call(const char *prefix, const char *call)
{
	const char *rest = find(prefix);
	const size_t length = strlen(call);
	return rest != NULL && strncmp(rest, call, length) == 0 ? rest + length : NULL;
}

void setting_crash(void)
{
	const struct rlimit none = {0};
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGSEGV, SIG_DFL);
	(void)raise(SIGSEGV);
	abort(); /* PID 1 of a container ignores its own signals, but not this */
}

int setting_enter(const char *call)
{
	const char *failure = find_call("fail=", call);
	if (ends(find_call("crash=", call)))
		setting_crash();
	return failure != NULL && *failure == ':' ? (int)strtol(failure + 1, NULL, 10) : 0;
}

static void work_once(uint32_t *values, const float *x, float *y, size_t elements, uint32_t key,
		      float scale)
{
	for (size_t i = 0; i < elements; i++) {
		uint32_t v = values[i] ^ key;
		v = (v ^ (v >> 16)) * 0x7feb352du;
		v = (v ^ (v >> 15)) * 0x846ca68bu;
		values[i] = v ^ (v >> 16);
		y[i] = scale * x[i] + y[i];
	}
}

void setting_work(uint32_t *values, const float *x, float *y, size_t elements, uint32_t key,
		  float scale)
{
	const size_t wrong = setting_number("wrong", SIZE_MAX);
	if (setting_has("idle"))
		return;
	work_once(values, x, y, elements, key, scale);
	if (setting_has("twice"))
		work_once(values, x, y, elements, key, scale);
	if (setting_has("overrun"))
		work_once(values + elements, x + elements, y + elements, 1, key, scale);
	if (wrong < elements)
		values[wrong] ^= 1u;
}

/* A driver holds the node of its device open; those of the tests have no kernel driver. */
#ifdef O_PATH
__attribute__((constructor)) static void open_node(void)
{
	char path[64] = "";
	const size_t number = setting_number("render", 0);
	(void)snprintf(path, sizeof(path), "/dev/dri/renderD%zu", number);
	if (number != 0 && !setting_has("closed"))
		(void)open(path, O_PATH | O_CLOEXEC);
}
#endif
