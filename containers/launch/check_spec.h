/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of launch_check_spec(). Internal to launch/. */

#include "containers/launch/launch.h"

struct spec_check {
	enum launch_system system;
	struct text_list *offences;
	size_t count;
	struct error *err; /* holds the first offence */
	bool out_of_memory;
};

void spec_offence(struct spec_check *check, const char *format, ...) PRINTF_LIKE(2, 3);

/* False, and an offence, when there is no such file. */
bool spec_stat(struct spec_check *check, const char *what, const char *path, uv_stat_t *status);

void spec_linux_mount(struct spec_check *check, const struct grant_entry *mount);
void spec_linux_device(struct spec_check *check, const struct grant_entry *device);

void spec_windows_mount(struct spec_check *check, const struct grant_entry *mount);
void spec_windows_device(struct spec_check *check, const struct grant_entry *device);
/* The same string for paths of the same place. Caller frees. */
char *spec_windows_place(const char *path);
