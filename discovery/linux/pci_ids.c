/* SPDX-License-Identifier: MIT */
#include "discovery/linux/pci.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* The start of the line behind the one that `at` is in; NULL at the end. */
static const char *line_after(const char *at)
{
	const char *end = strchr(at, '\n');

	return end != NULL ? end + 1 : NULL;
}

/*
 * pci.ids (https://pci-ids.ucw.cz): "VVVV  name" for a vendor, a tab and "DDDD  name" for each of
 * its devices below it, two tabs for subsystems, '#' for comments.
 */
char *pci_ids_find(const char *text, unsigned vendor, unsigned device)
{
	char vendor_line[16] = "";
	char device_line[16] = "";
	const char *line = text;

	(void)snprintf(vendor_line, sizeof(vendor_line), "%04x  ", vendor);
	(void)snprintf(device_line, sizeof(device_line), "\t%04x  ", device);
	while (line != NULL && !text_starts_with(line, vendor_line))
		line = line_after(line);
	if (line != NULL)
		line = line_after(line);
	for (; line != NULL; line = line_after(line)) {
		if (text_starts_with(line, device_line)) {
			const char *name = line + strlen(device_line);

			return strndup(name, strcspn(name, "\r\n"));
		}
		if (line[0] != '\t' && line[0] != '#' && line[0] != '\n')
			break;
	}
	return NULL;
}
