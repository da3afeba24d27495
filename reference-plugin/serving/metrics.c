/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/metrics.h"

#include "base/cleanup.h"

#include <stddef.h>
#include <time.h>

#define PREFIX	      "gpucert_device_plugin_"
#define STATE(member) offsetof(struct serving_state, member)

/* Rows of one name follow each other. */
static const struct {
	const char *name, *type, *help;
	const char *label; /* an additional label; "" */
	size_t offset;	   /* offset of the uint64_t */
} metrics[] = {
	{"devices", "gauge", "Devices that the kubelet is offered.", ",health=\"healthy\"",
	 STATE(healthy)},
	{"devices", "gauge", "", ",health=\"unhealthy\"", STATE(unhealthy)},
	{"allocations_total", "counter", "Allocate calls that were granted.", "",
	 STATE(counts.allocations)},
	{"allocation_errors_total", "counter", "Allocate calls that were refused.", "",
	 STATE(counts.allocation_errors)},
	{"registrations_total", "counter", "Registrations that the kubelet accepted.", "",
	 STATE(counts.registrations)},
	{"registration_errors_total", "counter", "Registrations that failed.", "",
	 STATE(counts.registration_errors)},
	{"kubelet_connected", "gauge", "1 while the kubelet watches the list of devices.", "",
	 STATE(connected)},
	{"list_and_watch_streams", "gauge", "Open ListAndWatch streams.", "", STATE(streams)},
	{"last_error_timestamp_seconds", "gauge", "Unix time of the last error; 0: none.", "",
	 STATE(counts.last_error_s)},
};

void metrics_count_error(struct serving_counts *counts, uint64_t *count)
{
	(*count)++;
	counts->last_error_s = (uint64_t)time(NULL);
}

static void add_label(struct text *out, const char *value)
{
	for (; *value != '\0'; value++) {
		if (*value == '\n')
			text_add(out, "\\n");
		else
			text_addf(out, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
	}
}

void metrics_write(const char *program, const struct serving_state *states, size_t count,
		   struct text *out)
{
	text_addf(out,
		  "# HELP " PREFIX "build_info The program and its version.\n"
		  "# TYPE " PREFIX "build_info gauge\n" PREFIX
		  "build_info{program=\"%s\",version=\"" GPUCERT_VERSION "\"} 1\n",
		  program);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		if (metrics[i].help[0] != '\0')
			text_addf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n",
				  metrics[i].name, metrics[i].help, metrics[i].name,
				  metrics[i].type);
		for (size_t k = 0; k < count; k++) {
			text_addf(out, PREFIX "%s{resource=\"", metrics[i].name);
			add_label(out, states[k].resource);
			text_addf(out, "\"%s} %llu\n", metrics[i].label,
				  *(const unsigned long long
					    *)(const void *)((const char *)&states[k] +
							     metrics[i].offset));
		}
	}
}

bool metrics_health(const struct serving_state *states, size_t count, uint64_t grace_ms,
		    struct text *out)
{
	bool healthy = true;
	for (size_t i = 0; i < count; i++) {
		const struct serving_state *state = &states[i];
		if (state->connected != 0 || state->superseded || state->apart_ms < grace_ms)
			continue;
		healthy = false;
		text_addf(out, "%s: the kubelet has not watched it for %llu s", state->resource,
			  (unsigned long long)state->apart_ms / 1000);
		text_addf(out, "%s%s\n", state->problem[0] != '\0' ? ": " : "", state->problem);
	}
	if (healthy)
		text_add(out, "ok\n");
	return healthy;
}
