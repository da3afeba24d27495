/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of launch_check_grant(). Internal to launch/. */

#include "containers/launch/launch.h"

struct grant_check {
	struct text_list *offences;
	bool out_of_memory;
};

void check_offence(struct grant_check *check, const char *format, ...) PRINTF_LIKE(2, 3);

/* False, and an offence, when there is no such file. */
bool check_stat(struct grant_check *check, const char *what, const char *path, uv_stat_t *status);

void check_linux_mount(struct grant_check *check, const struct grant_entry *mount);
void check_linux_device(struct grant_check *check, const struct grant_entry *device);

void check_windows_mount(struct grant_check *check, const struct grant_entry *mount);
void check_windows_device(struct grant_check *check, const struct grant_entry *device);
