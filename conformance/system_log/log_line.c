/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/system_log/system_log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct pattern {
	const char *driver;
	enum log_meaning meaning;
	const char *text;
} patterns[] = {
#define FAULT(driver, meaning, text) {driver, meaning, text},
#include "conformance/system_log/faults.def"
#undef FAULT
};

void log_line_set(struct log_line *line, const char *text, size_t size)
{
	size = size < sizeof(line->text) ? size : sizeof(line->text) - 1;
	for (size_t i = 0; i < size; i++)
		line->text[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
	line->text[size] = '\0';
}

/* "PRIORITY,NUMBER,MICROSECONDS,FLAGS;TEXT": the facility, above the three bits of the level, is 0
 * for the kernel; lines of user space have another one. */
const char *log_line_of_kernel(const char *data, struct log_line *line)
{
	const char *end = data + strcspn(data, "\n");
	const char *next = *end != '\0' ? end + 1 : end;
	const char *text = memchr(data, ';', (size_t)(end - data));
	unsigned long long numbers[3] = {0};
	*line = (struct log_line){.text = ""};
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		char *behind = NULL;
		if (text == NULL || !isdigit((unsigned char)*data))
			return next;
		numbers[i] = strtoull(data, &behind, 10);
		if (*behind != ',')
			return next;
		data = behind + 1;
	}
	if (numbers[0] >= 8)
		return next;
	(void)snprintf(line->when, sizeof(line->when), "%llu.%06llu", numbers[2] / 1000000,
		       numbers[2] % 1000000);
	log_line_set(line, text + 1, (size_t)(end - text - 1));
	return next;
}

enum { ANY_FUNCTION = 8 };

/* "DDDD:BB:SS.F", where the function may be missing. False: none begins here. */
static bool parse_address(const char *at, unsigned out[4])
{
	for (size_t i = 0; i < 3; i++) {
		size_t digits = strspn(at, "0123456789abcdefABCDEF");
		if (digits < (i == 0 ? 4 : 2) || digits > (i == 0 ? 8 : 2) ||
		    (i < 2 && at[digits] != ':'))
			return false;
		out[i] = (unsigned)strtoul(at, NULL, 16);
		at += digits + (i < 2 ? 1 : 0);
	}
	out[3] = at[0] == '.' && at[1] >= '0' && at[1] <= '7' ? (unsigned)(at[1] - '0')
							      : ANY_FUNCTION;
	return true;
}

/* The device whose PCI address is in the text; *named: the text has an address. */
static const struct discovery_device *find_address(const struct discovery_snapshot *node,
						   const char *text, bool *named)
{
	for (const char *at = text; *at != '\0'; at++) {
		unsigned address[4] = {0};
		if ((at > text && isxdigit((unsigned char)at[-1])) || !parse_address(at, address))
			continue;
		*named = true;
		for (size_t i = 0; i < node->device_count; i++) {
			unsigned own[4] = {0};
			if (parse_address(node->devices[i].pci_address, own) &&
			    memcmp(own, address, 3 * sizeof(*own)) == 0 &&
			    (address[3] == ANY_FUNCTION || address[3] == own[3]))
				return &node->devices[i];
		}
	}
	return NULL;
}

enum log_meaning log_line_judge(const struct log_line *line, const struct discovery_snapshot *node,
				const struct text_list *ids, const char **id)
{
	const struct pattern *pattern = patterns;
	bool named = false;
	const struct discovery_device *device = find_address(node, line->text, &named);
	while (pattern->text != NULL && !text_glob(pattern->text, line->text))
		pattern++;
	if (named ? device == NULL : pattern->text == NULL)
		return LOG_FOREIGN;
	if (pattern->driver == NULL) /* a fault of the machine, or no known one */
		return pattern->meaning;

	/* Without an address: the devices of the driver that offer an API, or all where none does. A
	 * message of any driver ("*") may be about each of them. */
	const bool any = text_equal(pattern->driver, "*");
	size_t all = 0, offering = 0;
	for (size_t i = 0; !named && i < node->device_count; i++) {
		const struct discovery_device *other = &node->devices[i];
		const bool offers = !any && other->apis != NULL && other->apis[0] != NULL;
		if (other->kind == DISCOVERY_SOFTWARE ||
		    !(any || text_equal(pattern->driver, other->driver_name)))
			continue;
		all++;
		offering += offers ? 1 : 0;
		if (offers || offering == 0)
			device = other;
	}
	const size_t count = named ? 1 : offering != 0 ? offering : all;
	if (count == 0)
		return LOG_FOREIGN;
	*id = device->id;
	bool counts = count == 1 && (ids->count == 0 || text_list_has(ids, device->id));
	return counts || pattern->meaning < LOG_WARNING ? pattern->meaning : LOG_WARNING;
}
