/* SPDX-License-Identifier: MIT */
/* Requests for metrics and health, and the answers, without a connection (test_metrics.sh has those). */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "reference-plugin/serving/http_request.h"
#include "reference-plugin/serving/metrics.h"

#include <string.h>

static void test_requests(void)
{
	static const struct {
		const char *text;
		int status;
		const char *path;
		bool is_head;
	} rows[] = {
		{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200, "/metrics", false},
		{"GET /metrics?a=b HTTP/1.0\r\n\r\n", 200, "/metrics", false},
		{"GET / HTTP/1.1\n\n", 200, "/", false},
		{"HEAD /healthz HTTP/1.1\r\n\r\nGET", 200, "/healthz", true},
		{"", 0, "", false},
		{"GET /metrics HTTP/1.1\r\n", 0, "", false},
		{"GET /metrics HTTP/1.1\r\nHost: x\r\n", 0, "", false},
		{"\r\n\r\n", 400, "", false},
		{"GET\r\n\r\n", 400, "", false},
		{"GET /metrics\r\n\r\n", 400, "", false},
		{"GET  HTTP/1.1\r\n\r\n", 400, "", false},
		{"GET metrics HTTP/1.1\r\n\r\n", 400, "", false},
		{"GET ?x HTTP/1.1\r\n\r\n", 400, "", false},
		{"GET /a b HTTP/1.1\r\n\r\n", 400, "", false},
		{"GET /\001 HTTP/1.1\r\n\r\n", 400, "", false},
		{"GET /metrics HTTP/1.12\r\n\r\n", 400, "", false},
		{"GET /metrics HTTP/2.0\r\n\r\n", 505, "", false},
		{"POST /metrics HTTP/1.1\r\n\r\n", 405, "", false},
		{"get /metrics HTTP/1.1\r\n\r\n", 405, "", false},
		{"GET /0123456789012345678901234567890123456789012345678901234567890123456789 HTTP/1.1\r\n\r\n",
		 404, "", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct http_request_head head = {0};
		UNIT_INT(http_request_parse(rows[i].text, strlen(rows[i].text), &head),
			 rows[i].status);
		if (rows[i].status != 200)
			continue;
		UNIT_STRING(head.path, rows[i].path);
		CU_ASSERT_EQUAL(head.is_head, rows[i].is_head);
	}
	char large[HTTP_REQUEST_MAX + 100];
	struct http_request_head head = {0};
	memset(large, 'a', sizeof(large));
	UNIT_INT(http_request_parse(large, HTTP_REQUEST_MAX - 1, &head), 0);
	UNIT_INT(http_request_parse(large, HTTP_REQUEST_MAX, &head), 431);
}

static void test_metrics(void)
{
	struct text text CLEANUP_TEXT = {0};
	struct serving_state states[2] = {
		{.resource = "a\"b\\c\nd",
		 .problem = "",
		 .healthy = 3,
		 .streams = 2,
		 .connected = 1},
		{.resource = "b", .problem = "", .unhealthy = 1, .counts = {.registrations = 7}}};
	metrics_count_error(&states[1].counts, &states[1].counts.allocation_errors);
	metrics_write("device-plugin-gpu", states, 2, &text);
	UNIT_CONTAINS(
		text_string(&text),
		"# HELP gpucert_device_plugin_devices Devices that the kubelet is offered.\n"
		"# TYPE gpucert_device_plugin_devices gauge\n"
		"gpucert_device_plugin_devices{resource=\"a\\\"b\\\\c\\nd\",health=\"healthy\"} 3\n"
		"gpucert_device_plugin_devices{resource=\"b\",health=\"healthy\"} 0\n"
		"gpucert_device_plugin_devices{resource=\"a\\\"b\\\\c\\nd\",health=\"unhealthy\"} 0\n"
		"gpucert_device_plugin_devices{resource=\"b\",health=\"unhealthy\"} 1\n# HELP");
	UNIT_CONTAINS(text_string(&text), "_registrations_total{resource=\"b\"} 7\n");
	UNIT_CONTAINS(text_string(&text), "_allocation_errors_total{resource=\"b\"} 1\n");
	CU_ASSERT_PTR_NULL(
		strstr(text_string(&text), "_last_error_timestamp_seconds{resource=\"b\"} 0\n"));
}

static void expect_health(const struct serving_state *states, uint64_t grace_ms, bool wanted,
			  const char *says)
{
	struct text text CLEANUP_TEXT = {0};
	CU_ASSERT_EQUAL(metrics_health(states, 2, grace_ms, &text), wanted);
	UNIT_STRING(text_string(&text), says);
}

static void test_health(void)
{
	struct serving_state states[2] = {
		{.resource = "a", .problem = "", .connected = 1, .apart_ms = 999999},
		{.resource = "b", .problem = "no such file", .apart_ms = METRICS_GRACE_MS - 1}};
	expect_health(states, METRICS_GRACE_MS, true, "ok\n");
	expect_health(states, 0, false,
		      "b: the kubelet has not watched it for 119 s: no such file\n");
	states[1].apart_ms++;
	expect_health(states, METRICS_GRACE_MS, false,
		      "b: the kubelet has not watched it for 120 s: no such file\n");
	states[1].superseded = true;
	expect_health(states, METRICS_GRACE_MS, true, "ok\n");
}

UNIT_MAIN("monitor", {"requests", test_requests}, {"metrics", test_metrics},
	  {"health", test_health})
