/* SPDX-License-Identifier: MIT */
/* The parts that know no connection: addresses, framing, timeouts, percent-encoding, statuses,
 * headers. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "rpc/address.h"
#include "rpc/frame.h"
#include "rpc/headers.h"
#include "rpc/message.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"
#include "rpc/rendezvous.h"
#include "rpc/rpc.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

static void check_address(const char *text, enum address_rules rules, enum address_kind kind,
			  const char *name)
{
	struct address parsed = {0};
	struct error err = {0};
	UNIT_INT(address_parse(text, rules, &parsed, &err), 0);
	CU_ASSERT_EQUAL(parsed.kind, kind);
	UNIT_STRING(parsed.name, name);
}

static void test_addresses(void)
{
	static const char *const wrong[] = {
		"",
		"unix:",
		"/run/x.sock",
		"tcp:1.2.3.4:5",
		"unix://",
		"unix://a/b",
		"npipe:x",
		"UNIX:/x",
		"npipe:",
		"npipe:////./pipe/",
		"npipe:////./pipe/a/b",
		"\\\\.\\pipe\\a\\b",
		"\\\\server\\pipe\\a",
		"npipe:////./mailslot/a",
	};
	char longest[5 + 107 + 1] = "unix:/";
	char too_long[5 + 108 + 1] = "unix:/";
	struct error err = {0};
	struct address long_one;
	check_address("unix:/run/a.sock", ADDRESS_POSIX, ADDRESS_FILE, "/run/a.sock");
	check_address("unix:///run/a.sock", ADDRESS_POSIX, ADDRESS_FILE, "/run/a.sock");
	check_address("unix:a.sock", ADDRESS_POSIX, ADDRESS_FILE, "a.sock");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct address parsed;
		CU_ASSERT_EQUAL(address_parse(wrong[i], ADDRESS_POSIX, &parsed, &err),
				ERROR_ARGUMENT);
		CU_ASSERT_EQUAL(address_parse(wrong[i], ADDRESS_WINDOWS, &parsed, &err),
				ERROR_ARGUMENT);
	}
	memset(longest + 6, 'x', sizeof(longest) - 7);
	CU_ASSERT_EQUAL(address_parse(longest, ADDRESS_POSIX, &long_one, &err), 0);
	memset(too_long + 6, 'x', sizeof(too_long) - 7);
	CU_ASSERT_EQUAL(address_parse(too_long, ADDRESS_POSIX, &long_one, &err), ERROR_LIMIT);
}

static void test_windows_addresses(void)
{
	char long_pipe[300] = "npipe:////./pipe/";
	struct address parsed;
	struct error err = {0};
	check_address("unix:C:\\a b\\x.sock", ADDRESS_WINDOWS, ADDRESS_FILE, "C:\\a b\\x.sock");
	check_address("unix:///C:/a/x.sock", ADDRESS_WINDOWS, ADDRESS_FILE, "C:/a/x.sock");
	check_address("unix://C:/a/x.sock", ADDRESS_WINDOWS, ADDRESS_FILE, "C:/a/x.sock");
	check_address("unix:///var/x.sock", ADDRESS_WINDOWS, ADDRESS_FILE, "/var/x.sock");
	check_address("npipe:////./pipe/containerd-containerd", ADDRESS_WINDOWS, ADDRESS_PIPE,
		      "\\\\.\\pipe\\containerd-containerd");
	check_address("npipe:\\\\.\\pipe\\x", ADDRESS_WINDOWS, ADDRESS_PIPE, "\\\\.\\pipe\\x");
	check_address("\\\\.\\pipe\\x", ADDRESS_WINDOWS, ADDRESS_PIPE, "\\\\.\\pipe\\x");
	/* The drive is a file name elsewhere, and named pipes are not there. */
	CU_ASSERT_EQUAL(address_parse("unix://C:/a", ADDRESS_POSIX, &parsed, &err), ERROR_ARGUMENT);
	CU_ASSERT_EQUAL(address_parse("npipe:////./pipe/x", ADDRESS_POSIX, &parsed, &err),
			ERROR_UNSUPPORTED);
	UNIT_CONTAINS(err.text, "Windows");
	memset(long_pipe + strlen(long_pipe), 'x', sizeof(long_pipe) - strlen(long_pipe) - 1);
	CU_ASSERT_EQUAL(address_parse(long_pipe, ADDRESS_WINDOWS, &parsed, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "at most 247");
}

static void test_rendezvous(void)
{
	static const char good[] = "gpucert-rendezvous 1 65535 00112233445566778899aabbccddeeff\n";
	static const char *const wrong[] = {
		"",
		"gpucert-rendezvous 2 80 00112233445566778899aabbccddeeff\n",
		"gpucert-rendezvous 1 0 00112233445566778899aabbccddeeff\n",
		"gpucert-rendezvous 1 080 00112233445566778899aabbccddeeff\n",
		"gpucert-rendezvous 1 65536 00112233445566778899aabbccddeeff\n",
		"gpucert-rendezvous 1 -1 00112233445566778899aabbccddeeff\n",
		"gpucert-rendezvous 1 80 00112233445566778899AABBCCDDEEFF\n",
		"gpucert-rendezvous 1 80 00112233445566778899aabbccddee\n",
		"gpucert-rendezvous 1 80 00112233445566778899aabbccddeeff",
		"gpucert-rendezvous 1 80 00112233445566778899aabbccddeeff\n\n",
	};
	struct rendezvous seen = {0};
	struct error err = {0};
	char text[RENDEZVOUS_TEXT_MAX];
	CU_ASSERT_EQUAL(rendezvous_parse(good, strlen(good), &seen, &err), 0);
	CU_ASSERT_EQUAL(seen.port, 65535);
	CU_ASSERT(seen.nonce[0] == 0 && seen.nonce[1] == 0x11 && seen.nonce[15] == 0xff);
	rendezvous_format(&seen, text);
	UNIT_STRING(text, good);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CU_ASSERT_EQUAL(rendezvous_parse(wrong[i], strlen(wrong[i]), &seen, &err),
				ERROR_FORMAT);
	for (size_t size = 0; size < strlen(good); size++) /* a torn one */
		CU_ASSERT_EQUAL(rendezvous_parse(good, size, &seen, &err), ERROR_FORMAT);
}

/* Two messages and the beginning of a third, cut into pieces of every size. */
static void test_frames_in_pieces(void)
{
	static const uint8_t bytes[] = "\0\0\0\0\3abc\0\0\0\0\0\0\0\0\0\5hel";
	size_t total = sizeof(bytes) - 1;
	for (size_t step = 1; step <= total; step++) {
		struct rpc_slice input = {bytes, 0};
		struct text seen CLEANUP_TEXT = {0};
		struct error err = {0};
		for (size_t at = 0; at < total; at += step) {
			struct rpc_slice message = {0};
			bool whole = true;
			input.size += at + step < total ? step : total - at;
			while (whole) {
				CU_ASSERT_EQUAL_FATAL(frame_read(input, 10, &whole, &message, &err),
						      0);
				if (!whole)
					continue;
				text_addf(&seen, "%.*s;", (int)message.size,
					  (const char *)message.data);
				input.data = message.data + message.size;
				input.size -= FRAME_PREFIX_SIZE + message.size;
			}
		}
		CU_ASSERT_STRING_EQUAL(text_string(&seen), "abc;;");
		CU_ASSERT_EQUAL(input.size, FRAME_PREFIX_SIZE + 3);
	}
}

static void test_frames_refused(void)
{
	static const struct {
		uint8_t prefix[FRAME_PREFIX_SIZE];
		int code, status;
	} cases[] = {
		{{0, 0, 0, 0, 11}, ERROR_LIMIT, RPC_RESOURCE_EXHAUSTED},
		{{0, 0xff, 0xff, 0xff, 0xff}, ERROR_LIMIT, RPC_RESOURCE_EXHAUSTED},
		{{1, 0, 0, 0, 1}, ERROR_UNSUPPORTED, RPC_INTERNAL},
		{{2, 0, 0, 0, 1}, ERROR_FORMAT, RPC_INTERNAL},
		{{0, 0, 0, 0, 10}, 0, RPC_INTERNAL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rpc_slice input = {cases[i].prefix, FRAME_PREFIX_SIZE};
		struct rpc_slice message = {0};
		struct error err = {0};
		bool whole = false;
		int rc = frame_read(input, 10, &whole, &message, &err);
		CU_ASSERT_EQUAL(rc, cases[i].code);
		CU_ASSERT_EQUAL(frame_error_status(rc), cases[i].status);
		CU_ASSERT(!whole);
	}
}

static void test_frame_prefix(void)
{
	uint8_t prefix[FRAME_PREFIX_SIZE];
	frame_write_prefix(prefix, 0x01020304);
	CU_ASSERT(memcmp(prefix, "\0\1\2\3\4", 5) == 0);
}

static void test_timeouts(void)
{
	static const struct {
		const char *text;
		uint64_t milliseconds;
	} good[] = {
		{"0n", 0},	 {"1n", 1},	     {"1000000n", 1},
		{"1000001n", 2}, {"1u", 1},	     {"1500u", 2},
		{"250m", 250},	 {"3S", 3000},	     {"2M", 120000},
		{"1H", 3600000}, {"0000001S", 1000}, {"99999999H", 99999999ULL * 3600000},
	};
	static const char *const bad[] = {"",	 "m",	"1",   "1x",	     "-1m",
					  "1 m", "1mm", "+1m", "123456789m", "1s"};
	static const struct {
		uint64_t milliseconds;
		const char *text;
	} written[] = {
		{1, "1m"},
		{99999999, "99999999m"},
		{100000000, "100000S"},
		{100000001, "100001S"},
		{99999999ULL * 1000 + 1, "1666667M"},
		{99999999ULL * 60000 + 1, "1666667H"},
		{UINT64_MAX, "99999999H"},
	};
	char out[TIMEOUT_SIZE];
	uint64_t value = 0;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		CU_ASSERT_EQUAL(timeout_parse(good[i].text, &value, NULL), 0);
		CU_ASSERT_EQUAL(value, good[i].milliseconds);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CU_ASSERT_EQUAL(timeout_parse(bad[i], &value, NULL), ERROR_FORMAT);
	for (size_t i = 0; i < ARRAY_SIZE(written); i++)
		CU_ASSERT_STRING_EQUAL(timeout_format(written[i].milliseconds, out),
				       written[i].text);
}

static void test_percent(void)
{
	static const char *const pairs[][2] = {
		{"", ""},
		{"plain ~ text", "plain ~ text"},
		{"100%", "100%25"},
		{"a\nb\x7f", "a%0Ab%7F"},
		{"\xe2\x82\xac", "%E2%82%AC"},
	};
	static const char *const odd[][2] = {
		{"%", "%"},	  {"%4", "%4"},		  {"%zz", "%zz"}, {"%41%", "A%"},
		{"%00x", "%00x"}, {"%e2%82", "\xe2\x82"}, {"a+b", "a+b"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct text encoded CLEANUP_TEXT = {0};
		struct text decoded CLEANUP_TEXT = {0};
		percent_encode(&encoded, pairs[i][0]);
		CU_ASSERT_STRING_EQUAL(text_string(&encoded), pairs[i][1]);
		percent_decode(&decoded, text_string(&encoded));
		CU_ASSERT_STRING_EQUAL(text_string(&decoded), pairs[i][0]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct text decoded CLEANUP_TEXT = {0};
		percent_decode(&decoded, odd[i][0]);
		CU_ASSERT_STRING_EQUAL(text_string(&decoded), odd[i][1]);
	}
}

static void test_statuses(void)
{
	CU_ASSERT_STRING_EQUAL(rpc_code_name(RPC_OK), "OK");
	CU_ASSERT_STRING_EQUAL(rpc_code_name(RPC_UNAUTHENTICATED), "UNAUTHENTICATED");
	CU_ASSERT_STRING_EQUAL(rpc_code_name(17), "UNKNOWN");
	CU_ASSERT_STRING_EQUAL(rpc_code_name(RPC_NO_STATUS), "NO_STATUS");
	CU_ASSERT_STRING_EQUAL(rpc_code_name(-2), "UNKNOWN");
	CU_ASSERT_EQUAL(status_of_reset(NGHTTP2_REFUSED_STREAM), RPC_UNAVAILABLE);
	CU_ASSERT_EQUAL(status_of_reset(NGHTTP2_CANCEL), RPC_CANCELLED);
	CU_ASSERT_EQUAL(status_of_reset(NGHTTP2_ENHANCE_YOUR_CALM), RPC_RESOURCE_EXHAUSTED);
	CU_ASSERT_EQUAL(status_of_reset(NGHTTP2_INADEQUATE_SECURITY), RPC_PERMISSION_DENIED);
	CU_ASSERT_EQUAL(status_of_reset(NGHTTP2_NO_ERROR), RPC_INTERNAL);
	CU_ASSERT_EQUAL(status_of_reset(0xffffffff), RPC_INTERNAL);
	CU_ASSERT_EQUAL(status_of_http(404), RPC_UNIMPLEMENTED);
	CU_ASSERT_EQUAL(status_of_http(503), RPC_UNAVAILABLE);
	CU_ASSERT_EQUAL(status_of_http(400), RPC_INTERNAL);
	CU_ASSERT_EQUAL(status_of_http(500), RPC_UNKNOWN);
	CU_ASSERT_EQUAL(status_parse("0"), RPC_OK);
	CU_ASSERT_EQUAL(status_parse("16"), RPC_UNAUTHENTICATED);
	CU_ASSERT_EQUAL(status_parse("17"), 17);
	CU_ASSERT_EQUAL(status_parse("2147483647"), 2147483647);
	CU_ASSERT_EQUAL(status_parse("2147483648"), RPC_UNKNOWN);
	CU_ASSERT_EQUAL(status_parse(""), RPC_UNKNOWN);
	CU_ASSERT_EQUAL(status_parse("-1"), RPC_UNKNOWN);
	CU_ASSERT_EQUAL(status_parse("99999999999999999999"), RPC_UNKNOWN);
}

static void add(struct headers *headers, const char *name, const char *value, size_t max)
{
	headers_add(headers, (struct rpc_slice){(const uint8_t *)name, strlen(name)},
		    (struct rpc_slice){(const uint8_t *)value, strlen(value)}, max);
}

/* strings, a map, a nested message, an unknown field; expected bytes by hand */
static void test_message_strings(void)
{
	static const uint8_t list[] = {0x0a, 0x0c, 0x0a, 0x03, 'a', 0,	 'b',  0x12,
				       0x05, 'O',  'K',	 0,    'x', 'y', 0x78, 0x05};
	static const uint8_t invalid[] = {0x0a, 0x03, 0x0a, 0x01, 0xff};
	static const uint8_t cut[] = {0x0a, 0x05, 0x0a, 0x01, 'a'};
	const ProtobufCMessageDescriptor *type = &v1beta1__list_and_watch_response__descriptor;
	struct text packed CLEANUP_TEXT = {0};
	ProtobufCMessage *message = NULL;
	CU_ASSERT_PTR_NULL(message_unpack(type, (struct rpc_slice){list, sizeof(list)}, &message));
	CU_ASSERT_PTR_NOT_NULL_FATAL(message);
	const V1beta1__ListAndWatchResponse *response =
		(const V1beta1__ListAndWatchResponse *)(const void *)message;
	CU_ASSERT_EQUAL_FATAL(response->n_devices, 1);
	UNIT_STRING(response->devices[0]->id, "a" MESSAGE_NUL "b");
	UNIT_STRING(response->devices[0]->health, "OK" MESSAGE_NUL "xy");
	UNIT_INT(message_pack(message, &packed, NULL), 0);
	CU_ASSERT(packed.size == sizeof(list) && memcmp(packed.data, list, sizeof(list)) == 0);
	protobuf_c_message_free_unpacked(message, NULL);
	CU_ASSERT_STRING_EQUAL(
		message_unpack(type, (struct rpc_slice){invalid, sizeof(invalid)}, &message),
		"grpc: failed to unmarshal the received message: string field contains invalid "
		"UTF-8");
	CU_ASSERT_PTR_NULL(message);
	CU_ASSERT_STRING_EQUAL(message_unpack(type, (struct rpc_slice){cut, sizeof(cut)}, &message),
			       "grpc: failed to unmarshal the received message");
	CU_ASSERT_PTR_NULL(message);
}

static void test_headers(void)
{
	struct headers headers = {0};
	CU_ASSERT_PTR_NULL(headers_get(&headers, "a"));
	add(&headers, ":path", "/x", 1000);
	add(&headers, "a", "", 1000);
	add(&headers, "b", "2", 1000);
	add(&headers, "b", "3", 1000);
	CU_ASSERT_STRING_EQUAL(headers_get(&headers, "b"), "2");
	CU_ASSERT_STRING_EQUAL(headers_get(&headers, "a"), "");
	CU_ASSERT_PTR_NULL(headers_get(&headers, "2"));
	CU_ASSERT(!headers.malformed && !headers.too_large);
	add(&headers, "Upper", "v", 1000);
	CU_ASSERT(headers.malformed);
	CU_ASSERT_EQUAL(headers.count, 4);
	headers_reset(&headers);
	CU_ASSERT(!headers.malformed);
	add(&headers, "x", "a\nb", 1000);
	CU_ASSERT(headers.malformed);
	headers_reset(&headers);
	add(&headers, "name", "value", 4 + 5 + 32);
	CU_ASSERT(!headers.too_large);
	add(&headers, "a", "", 4 + 5 + 32);
	CU_ASSERT(headers.too_large);
	CU_ASSERT_EQUAL(headers.count, 1);
	headers_free(&headers);
}

static void test_content_types(void)
{
	CU_ASSERT(content_type_is_grpc("application/grpc"));
	CU_ASSERT(content_type_is_grpc("application/grpc+proto"));
	CU_ASSERT(content_type_is_grpc("application/grpc;charset=utf-8"));
	CU_ASSERT(!content_type_is_grpc("application/grpc-web"));
	CU_ASSERT(!content_type_is_grpc("text/plain"));
	CU_ASSERT(!content_type_is_grpc(""));
	CU_ASSERT(!content_type_is_grpc(NULL));
}

UNIT_MAIN("wire parts", {"addresses", test_addresses},
	  {"windows addresses", test_windows_addresses}, {"rendezvous", test_rendezvous},
	  {"frames in pieces", test_frames_in_pieces}, {"frames refused", test_frames_refused},
	  {"frame prefix", test_frame_prefix}, {"timeouts", test_timeouts},
	  {"percent", test_percent}, {"statuses", test_statuses},
	  {"strings of messages", test_message_strings}, {"headers", test_headers},
	  {"content types", test_content_types})
