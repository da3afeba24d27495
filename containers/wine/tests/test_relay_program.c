/* SPDX-License-Identifier: MIT */
/* wine-relay around commands that stand for a plugin under Wine. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "rpc/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PROGRAM GPUCERT_BINARY_DIR "/libexec/gpucert/wine-relay"

enum { TIMEOUT_MS = 300000 };

static char *directory; /* of the test at hand; the kubelet's is below it */
static char *kubelet;

static void run_relay(const char *script, struct process_result *result)
{
	const char *const argv[] = {PROGRAM, kubelet, "--",	"sh",
				    "-c",    script,  "plugin", "--dir={wine-plugin-dir}/",
				    NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = TIMEOUT_MS};
	struct error err = {0};
	UNIT_INT(process_run(&spec, result, &err), 0);
	UNIT_STRING(err.text, "");
}

static void expect_empty(void)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	UNIT_INT(file_list(directory, &names, NULL), 0);
	UNIT_INT(names.count, 1); /* the kubelet's */
}

static void test_exit_code(void)
{
	struct process_result result = {0};
	run_relay("echo out; echo err >&2; exit 7", &result);
	UNIT_INT(result.end, PROCESS_EXITED);
	UNIT_INT(result.code, 7);
	UNIT_STRING(text_string(&result.out), "out\n");
	UNIT_STRING(text_string(&result.err), "err\n");
	process_result_free(&result);
	expect_empty();
}

/* The directory is told by word and environment, as Wine sees it, and is there. */
static void test_directory(void)
{
	struct process_result result = {0};
	char *beginning CLEANUP_FREE = text_format("--dir=Z:%s/wine-", directory);
	run_relay("echo $1; test \"$1\" = \"--dir=$DEVICE_PLUGIN_DIR/\" && "
		  "test \"$KUBELET_SOCKET\" = \"$PLUGIN_SOCK_DIR/kubelet.sock\" && "
		  "test -d \"${DEVICE_PLUGIN_DIR#Z:}\"",
		  &result);
	UNIT_INT(result.code, 0);
	CU_ASSERT_TRUE(text_starts_with(text_string(&result.out), beginning));
	process_result_free(&result);
	expect_empty();
}

static void test_cannot_start(void)
{
	const char *const missing[] = {PROGRAM, kubelet, "--", "/nonexistent/program", NULL};
	const char *const nowhere[] = {PROGRAM, "/nonexistent/directory", "--", "true", NULL};
	const char *const usage[] = {PROGRAM, kubelet, NULL};
	const struct {
		const char *const *argv;
		int code;
		const char *reason;
	} cases[] = {{missing, 125, "/nonexistent/program"},
		     {nowhere, 125, "/nonexistent"},
		     {usage, 2, "usage"}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct process_spec spec = {.argv = cases[i].argv, .timeout_ms = TIMEOUT_MS};
		struct process_result result = {0};
		UNIT_INT(process_run(&spec, &result, NULL), 0);
		UNIT_INT(result.code, cases[i].code);
		UNIT_CONTAINS(text_string(&result.err), cases[i].reason);
		process_result_free(&result);
	}
	expect_empty();
}

struct running {
	uv_loop_t loop;
	struct process *process;
	bool ready, ended;
};

static void on_line(bool is_stderr, const char *line, size_t size, void *user)
{
	(void)is_stderr;
	if (size == strlen("ready") && memcmp(line, "ready", size) == 0)
		((struct running *)user)->ready = true;
}

static void on_end(struct process *process, const struct process_result *result, void *user)
{
	(void)process;
	(void)result;
	((struct running *)user)->ended = true;
}

static bool is_ready(void *user)
{
	return ((struct running *)user)->ready;
}

static bool is_ended(void *user)
{
	return ((struct running *)user)->ended;
}

static void start_relay(struct running *running, const char *script)
{
	const char *const argv[] = {PROGRAM, kubelet, "--", "sh", "-c", script, NULL};
	const struct process_spec spec = {
		.argv = argv, .on_line = on_line, .on_end = on_end, .user = running};
	*running = (struct running){0};
	(void)uv_loop_init(&running->loop);
	UNIT_INT(process_start(&running->loop, &spec, &running->process, NULL), 0);
	UNIT_INT(loop_wait(&running->loop, is_ready, running, TIMEOUT_MS, "ready", NULL), 0);
}

static void end_relay(struct running *running, int code)
{
	UNIT_INT(loop_wait(&running->loop, is_ended, running, TIMEOUT_MS, "the end", NULL), 0);
	UNIT_INT(process_result(running->process)->end, PROCESS_EXITED);
	UNIT_INT(process_result(running->process)->code, code);
	process_free(running->process);
	UNIT_INT(loop_drain(&running->loop, TIMEOUT_MS, NULL), 0);
	expect_empty();
}

static void test_signal(void)
{
	struct running running;
	start_relay(&running, "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done");
	UNIT_INT(process_signal(running.process, SIGTERM, NULL), 0);
	end_relay(&running, 5);
}

static int listen_at_port(unsigned *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, size), 0);
	CU_ASSERT_EQUAL_FATAL(listen(fd, 8), 0);
	CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* A socket's file is there before anybody listens on it. */
static bool connect_when_listened(int client, const struct sockaddr_un *address)
{
	const struct sockaddr *any = (const struct sockaddr *)address;
	int rc = connect(client, any, sizeof(*address));
	for (int ms = 0; rc < 0 && errno == ECONNREFUSED && ms < TIMEOUT_MS; ms += 10) {
		(void)poll(NULL, 0, 10);
		rc = connect(client, any, sizeof(*address));
	}
	return rc == 0;
}

/* Kubelets that hang up while the plugin still talks: the relay goes on. */
static void test_hang_up(void)
{
	struct running running;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	unsigned port = 0;
	int plugin = listen_at_port(&port);
	struct pollfd waiting = {.fd = plugin, .events = POLLIN};
	char *script CLEANUP_FREE = text_format(
		"dir=${DEVICE_PLUGIN_DIR#Z:}; "
		"echo 'gpucert-rendezvous 1 %u 00112233445566778899aabbccddeeff' > $dir/tmp; "
		"mv $dir/tmp $dir/a.sock; "
		"while ! test -S $dir/../kubelet/a.sock; do sleep 0.01; done; "
		"trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done",
		port);
	start_relay(&running, script);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/a.sock", kubelet);
	for (int i = 0; i < 20; i++) {
		int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int server = -1;
		bool called = connect_when_listened(client, &address) &&
			      poll(&waiting, 1, TIMEOUT_MS) == 1;
		UNIT_NEED(called);
		server = accept(plugin, NULL, NULL);
		CU_ASSERT_TRUE(server >= 0);
		close(client);
		for (int j = 0; j < 20; j++)
			(void)send(server, "devices", 7, MSG_NOSIGNAL);
		close(server);
	}
	UNIT_INT(process_signal(running.process, SIGTERM, NULL), 0);
	end_relay(&running, 0);
	close(plugin);
}

static int suite_begin(void)
{
	if (file_make_temporary("/tmp", "relay-program-", &directory, NULL) < 0)
		return 1;
	kubelet = path_join(directory, "kubelet");
	return file_make_directories(kubelet, 0755, NULL);
}

static int suite_end(void)
{
	int rc = file_remove_tree(directory, NULL);
	free(kubelet);
	free(directory);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"output and exit code are the plugin's", test_exit_code},
		{"the plugin is told its directory", test_directory},
		{"what cannot be started", test_cannot_start},
		{"SIGTERM goes to the plugin", test_signal},
		{"peers that hang up", test_hang_up},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("wine-relay", suite_begin, suite_end, tests);
}
