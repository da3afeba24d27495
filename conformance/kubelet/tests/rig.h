/* SPDX-License-Identifier: MIT */
#pragma once

/* A fake kubelet in a temporary directory and scripted plugins on one loop. Failures end the test.
 */

#include "base/tests/unit.h"
#include "conformance/kubelet/doubles/scripted_plugin.h"
#include "conformance/kubelet/kubelet.h"
#include "conformance/kubelet/pod.h"

#include <stdio.h>

#define RIG_RESOURCE "example.com/gpu"

enum { RIG_PATIENCE_MS = 300000, RIG_PLUGINS_MAX = 4 };

struct rig {
	uv_loop_t loop;
	char *directory, *plugin_dir, *registry_dir;
	struct kubelet *kubelet;
	struct scripted_plugin *plugins[RIG_PLUGINS_MAX];
	struct script_file files[RIG_PLUGINS_MAX];
	size_t plugin_count;
	size_t events[KUBELET_EVENT_COUNT];
	/* Told besides, when set. */
	void (*on_event)(const struct kubelet_event *event, void *user);
	void (*on_note)(const char *line, void *user);
	void *user;
	char last_text[KUBELET_EVENT_COUNT]
		      [512]; /* text or socket of the last event of each kind */
};

void rig_init(struct rig *rig);
/* kubelet_new() with the rig's directories; `options` may be NULL. Not started. */
void rig_make(struct rig *rig, const struct kubelet_options *options);
/* rig_init(), rig_make() with the profile, kubelet_start(). */
void rig_start(struct rig *rig, enum kubelet_profile profile);
void rig_close(struct rig *rig);

/* A plugin from one object of the script's "plugins" array, with ' for ". */
struct scripted_plugin *rig_plugin(struct rig *rig, const char *json);
void rig_stop_plugin(struct rig *rig, struct scripted_plugin *plugin);

/* Waits for the next registration to be answered. */
const struct kubelet_registration *rig_registration(struct rig *rig, size_t index);
void rig_wait_listed(struct rig *rig);
void rig_wait_allocatable(struct rig *rig, size_t count); /* of RIG_RESOURCE */
void rig_wait(struct rig *rig, loop_condition *done, void *user, const char *what);
void rig_wait_event(struct rig *rig, enum kubelet_event_type type, size_t count);

/* kubelet_admit() of a container with one limit. */
struct kubelet_outcome rig_admit(struct rig *rig, const char *pod, const char *container,
				 size_t count);

#define CHECK_OK(call)                                                                             \
	do {                                                                                       \
		struct error check_err_ = {0};                                                     \
		int check_rc_ = (call);                                                            \
		if (check_rc_ != 0)                                                                \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, check_err_.text); \
		CU_ASSERT_EQUAL_FATAL(check_rc_, 0);                                               \
	} while (0)

/* The error object that CHECK_OK() shows. */
#define ERR (&check_err_)
