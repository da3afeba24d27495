/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/wine/relay.h"
#include "rpc/loop.h"
#include "rpc/rendezvous.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAIT_MS = 300000, NONCE_MS = 300 };

struct rig {
	uv_loop_t loop;
	char *directory, *kubelet, *wine;
	struct relay *relay;
	struct text notes;
};

static void rig_on_note(const char *note, void *user)
{
	struct rig *rig = user;
	text_addf(&rig->notes, "%s\n", note);
}

static void rig_open(struct rig *rig)
{
	struct relay_options options = {.on_note = rig_on_note, .user = rig, .nonce_ms = NONCE_MS};
	*rig = (struct rig){0};
	(void)uv_loop_init(&rig->loop);
	CU_ASSERT_EQUAL_FATAL(file_make_temporary("/tmp", "relay-", &rig->directory, NULL), 0);
	rig->kubelet = path_join(rig->directory, "kubelet");
	rig->wine = path_join(rig->directory, "wine");
	CU_ASSERT_EQUAL_FATAL(file_make_directories(rig->kubelet, 0755, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_directories(rig->wine, 0755, NULL), 0);
	options.directories[RELAY_KUBELET] = rig->kubelet;
	options.directories[RELAY_WINE] = rig->wine;
	CU_ASSERT_EQUAL_FATAL(relay_open(&rig->loop, &options, &rig->relay, NULL), 0);
}

static void rig_close(struct rig *rig)
{
	relay_close(rig->relay);
	CU_ASSERT_EQUAL(loop_drain(&rig->loop, WAIT_MS, NULL), 0);
	(void)file_remove_tree(rig->directory, NULL);
	free(rig->directory);
	free(rig->kubelet);
	free(rig->wine);
	text_free(&rig->notes);
}

/* Files that are relayed. */
static size_t mirror_count(const struct rig *rig)
{
	size_t count = 0;
	for (size_t i = 0; i < rig->relay->mirror_count; i++)
		count += rig->relay->mirrors[i]->refused ? 0 : 1;
	return count;
}

/* A kubelet's or plugin's listening socket file. */
static int listen_at(const char *directory, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, name);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(fd, 8), 0);
	return fd;
}

static int connect_to(const char *directory, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, name);
	CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* A port of 127.0.0.1 that is listened at, as Wine's programs do. */
static int listen_at_port(uint16_t *port)
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

static int connect_to_port(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void put_file(const char *directory, const char *name, const char *content)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, content, strlen(content), 0600, NULL), 0);
}

static bool is_there(const char *directory, const char *name)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	struct stat status = {0};
	return lstat(path, &status) == 0;
}

static void take_away(const char *directory, const char *name)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	CU_ASSERT_EQUAL(unlink(path), 0);
}

struct wanted {
	const char *directory, *name;
	bool there;
};

static bool is_as_wanted(void *user)
{
	const struct wanted *wanted = user;
	return is_there(wanted->directory, wanted->name) == wanted->there;
}

static void wait_for_file(struct rig *rig, const char *directory, const char *name, bool there)
{
	struct wanted wanted = {directory, name, there};
	UNIT_INT(loop_wait(&rig->loop, is_as_wanted, &wanted, WAIT_MS, name, NULL), 0);
}

static struct rendezvous read_rendezvous(struct rig *rig, const char *name)
{
	char *path CLEANUP_FREE = path_join(rig->wine, name);
	char *text CLEANUP_FREE = NULL;
	struct rendezvous rendezvous = {0};
	struct error err = {0};
	size_t size = 0;
	UNIT_INT(file_read(path, RENDEZVOUS_TEXT_MAX, &text, &size, &err), 0);
	UNIT_INT(text != NULL ? rendezvous_parse(text, size, &rendezvous, &err) : -1, 0);
	return rendezvous;
}

struct expected {
	int fd;
	size_t size;
	char seen[65536];
	bool ended;
};

static bool has_come(void *user)
{
	struct expected *expected = user;
	ssize_t size = recv(expected->fd, expected->seen + expected->size,
			    sizeof(expected->seen) - expected->size, MSG_DONTWAIT);
	if (size > 0)
		expected->size += (size_t)size;
	expected->ended = size == 0 || (size < 0 && errno != EAGAIN);
	return expected->ended;
}

/* Everything up to the end of the stream. */
static void expect_all(struct rig *rig, int fd, const char *wanted)
{
	struct expected expected = {.fd = fd};
	UNIT_INT(loop_wait(&rig->loop, has_come, &expected, WAIT_MS, "the end of a stream", NULL),
		 0);
	UNIT_STRING(expected.seen, wanted);
}

struct accepting {
	int listener, fd;
};

static bool has_accepted(void *user)
{
	struct accepting *accepting = user;
	struct pollfd waiting = {.fd = accepting->listener, .events = POLLIN};
	if (poll(&waiting, 1, 0) == 1)
		accepting->fd = accept4(accepting->listener, NULL, NULL, SOCK_CLOEXEC);
	return accepting->fd >= 0;
}

static int accept_from(struct rig *rig, int listener)
{
	struct accepting accepting = {listener, -1};
	UNIT_INT(loop_wait(&rig->loop, has_accepted, &accepting, WAIT_MS, "a connection", NULL), 0);
	return accepting.fd;
}

static void put_rendezvous(struct rig *rig, const char *name, const struct rendezvous *rendezvous)
{
	char line[RENDEZVOUS_TEXT_MAX] = "";
	rendezvous_format(rendezvous, line);
	put_file(rig->wine, name, line);
}

static void send_text(int fd, const char *text)
{
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* The plugin calls the kubelet. */
static void test_to_kubelet(void)
{
	struct rig rig;
	int listener = -1, server = -1, client = -1;
	rig_open(&rig);
	listener = listen_at(rig.kubelet, "kubelet.sock");
	wait_for_file(&rig, rig.wine, "kubelet.sock", true);
	struct rendezvous rendezvous = read_rendezvous(&rig, "kubelet.sock");
	client = connect_to_port(rendezvous.port);
	/* In two pieces, the second with what follows. */
	CU_ASSERT_EQUAL(write(client, rendezvous.nonce, 5), 5);
	loop_run_for(&rig.loop, 20);
	CU_ASSERT_EQUAL(write(client, rendezvous.nonce + 5, 11), 11);
	send_text(client, "register");
	server = accept_from(&rig, listener);
	(void)shutdown(client, SHUT_WR);
	expect_all(&rig, server, "register");
	/* The other direction is still open. */
	send_text(server, "registered");
	close(server);
	expect_all(&rig, client, "registered");
	close(client);
	close(listener);
	UNIT_STRING(text_string(&rig.notes), "");
	rig_close(&rig);
}

/* The kubelet calls the plugin. */
static void test_to_plugin(void)
{
	struct rig rig;
	struct rendezvous rendezvous = {.nonce = "0123456789abcde"};
	int listener = -1, server = -1, client = -1;
	rig_open(&rig);
	listener = listen_at_port(&rendezvous.port);
	put_rendezvous(&rig, "wddm.sock", &rendezvous);
	wait_for_file(&rig, rig.kubelet, "wddm.sock", true);
	client = connect_to(rig.kubelet, "wddm.sock");
	send_text(client, "list");
	(void)shutdown(client, SHUT_WR);
	server = accept_from(&rig, listener);
	{
		struct expected expected = {.fd = server};
		UNIT_INT(loop_wait(&rig.loop, has_come, &expected, WAIT_MS, "the call", NULL), 0);
		UNIT_INT(expected.size, RENDEZVOUS_NONCE_SIZE + strlen("list"));
		CU_ASSERT_EQUAL(memcmp(expected.seen, rendezvous.nonce, RENDEZVOUS_NONCE_SIZE), 0);
	}
	send_text(server, "devices");
	close(server);
	expect_all(&rig, client, "devices");
	close(client);
	close(listener);
	UNIT_INT(rig.relay->link_count, 0);
	UNIT_STRING(text_string(&rig.notes), "");
	rig_close(&rig);
}

/* A kubelet dials back while the plugin's Register is under way: its socket is there by then. */
static void test_dial_back(void)
{
	struct rig rig;
	struct rendezvous plugin = {.nonce = "0123456789abcde"};
	int listener = -1, server = -1, client = -1, plugin_listener = -1;
	char byte = 0;
	rig_open(&rig);
	listener = listen_at(rig.kubelet, "kubelet.sock");
	wait_for_file(&rig, rig.wine, "kubelet.sock", true);
	struct rendezvous kubelet = read_rendezvous(&rig, "kubelet.sock");
	client = connect_to_port(kubelet.port);
	CU_ASSERT_EQUAL(write(client, kubelet.nonce, RENDEZVOUS_NONCE_SIZE), RENDEZVOUS_NONCE_SIZE);
	server = accept_from(&rig, listener);
	plugin_listener = listen_at_port(&plugin.port);
	put_rendezvous(&rig, "late.sock", &plugin);
	send_text(client, "r");
	/* As soon as the call is there, so is the socket: no round of the loop lies between. */
	for (int i = 0; i < 10000 && recv(server, &byte, 1, MSG_DONTWAIT) != 1; i++)
		(void)uv_run(&rig.loop, UV_RUN_NOWAIT);
	CU_ASSERT_EQUAL(byte, 'r');
	CU_ASSERT_TRUE(is_there(rig.kubelet, "late.sock"));
	close(client);
	close(server);
	close(listener);
	close(plugin_listener);
	rig_close(&rig);
}

static void test_removal(void)
{
	struct rig rig;
	struct rendezvous rendezvous = {.nonce = "0123456789abcde"};
	int listener = -1, plugin = -1;
	rig_open(&rig);
	plugin = listen_at_port(&rendezvous.port);
	listener = listen_at(rig.kubelet, "kubelet.sock");
	put_rendezvous(&rig, "wddm.sock", &rendezvous);
	wait_for_file(&rig, rig.wine, "kubelet.sock", true);
	wait_for_file(&rig, rig.kubelet, "wddm.sock", true);
	struct rendezvous before = read_rendezvous(&rig, "kubelet.sock");
	/* A kubelet restarts: it removes the sockets and makes its own anew. */
	take_away(rig.kubelet, "wddm.sock");
	take_away(rig.kubelet, "kubelet.sock");
	close(listener);
	listener = listen_at(rig.kubelet, "kubelet.sock");
	wait_for_file(&rig, rig.wine, "wddm.sock", false);
	wait_for_file(&rig, rig.wine, "kubelet.sock", true);
	struct rendezvous after = read_rendezvous(&rig, "kubelet.sock");
	CU_ASSERT_NOT_EQUAL(memcmp(before.nonce, after.nonce, sizeof(after.nonce)), 0);
	/* The plugin answers with a new socket, and takes it away when it ends. */
	put_rendezvous(&rig, "wddm.sock", &rendezvous);
	wait_for_file(&rig, rig.kubelet, "wddm.sock", true);
	take_away(rig.wine, "wddm.sock");
	wait_for_file(&rig, rig.kubelet, "wddm.sock", false);
	UNIT_INT(mirror_count(&rig), 1);
	/* What the relay made goes with it; the kubelet's own socket stays. */
	relay_close(rig.relay);
	rig.relay = NULL;
	CU_ASSERT_FALSE(is_there(rig.wine, "kubelet.sock"));
	CU_ASSERT_TRUE(is_there(rig.kubelet, "kubelet.sock"));
	close(listener);
	close(plugin);
	UNIT_STRING(text_string(&rig.notes), "");
	rig_close(&rig);
}

static bool has_note(void *user)
{
	return ((struct rig *)user)->notes.size != 0;
}

static void test_hostile_clients(void)
{
	struct rig rig;
	int listener = -1, wrong = -1, silent = -1, gone = -1;
	rig_open(&rig);
	listener = listen_at(rig.kubelet, "kubelet.sock");
	wait_for_file(&rig, rig.wine, "kubelet.sock", true);
	struct rendezvous rendezvous = read_rendezvous(&rig, "kubelet.sock");
	wrong = connect_to_port(rendezvous.port);
	CU_ASSERT_EQUAL(write(wrong, "0123456789abcdef and more", 25), 25);
	expect_all(&rig, wrong, "");
	UNIT_CONTAINS(text_string(&rig.notes), "did not know the nonce");
	text_reset(&rig.notes);
	silent = connect_to_port(rendezvous.port);
	CU_ASSERT_EQUAL(write(silent, rendezvous.nonce, 3), 3);
	expect_all(&rig, silent, "");
	UNIT_CONTAINS(text_string(&rig.notes), "in time");
	gone = connect_to_port(rendezvous.port);
	CU_ASSERT_EQUAL(write(gone, rendezvous.nonce, 3), 3);
	close(gone);
	loop_run_for(&rig.loop, 20);
	UNIT_INT(rig.relay->link_count, 0);
	/* Nobody of them reached the kubelet. */
	{
		struct pollfd waiting = {.fd = listener, .events = POLLIN};
		UNIT_INT(poll(&waiting, 1, 0), 0);
	}
	close(wrong);
	close(silent);
	close(listener);
	rig_close(&rig);
}

static void test_hostile_files(void)
{
	struct rig rig;
	char huge[4096] = "gpucert-rendezvous 1 80 ";
	char *link CLEANUP_FREE = NULL;
	char *folder CLEANUP_FREE = NULL;
	rig_open(&rig);
	memset(huge + strlen(huge), 'a', sizeof(huge) - strlen(huge) - 1);
	put_file(rig.wine, "garbage.sock", "\x01 garbage\n");
	put_file(rig.wine, "huge.sock", huge);
	put_file(rig.wine, "empty.sock", "");
	put_file(rig.wine, "plain.txt",
		 "gpucert-rendezvous 1 80 00112233445566778899aabbccddeeff\n");
	link = path_join(rig.wine, "link.sock");
	CU_ASSERT_EQUAL(symlink("/etc/passwd", link), 0);
	folder = path_join(rig.wine, "folder.sock");
	CU_ASSERT_EQUAL(mkdir(folder, 0700), 0);
	UNIT_INT(loop_wait(&rig.loop, has_note, &rig, WAIT_MS, "a note", NULL), 0);
	relay_scan(rig.relay);
	UNIT_CONTAINS(text_string(&rig.notes), "garbage.sock is not relayed");
	UNIT_CONTAINS(text_string(&rig.notes), "huge.sock is not relayed");
	UNIT_CONTAINS(text_string(&rig.notes), "empty.sock is not relayed");
	CU_ASSERT_PTR_NULL(strstr(text_string(&rig.notes), "plain.txt"));
	CU_ASSERT_PTR_NULL(strstr(text_string(&rig.notes), "link.sock"));
	UNIT_INT(mirror_count(&rig), 0);
	/* Told once. */
	text_reset(&rig.notes);
	relay_scan(rig.relay);
	UNIT_STRING(text_string(&rig.notes), "");
	/* A file that becomes sound is relayed. */
	put_file(rig.wine, "garbage.sock",
		 "gpucert-rendezvous 1 80 00112233445566778899aabbccddeeff\n");
	wait_for_file(&rig, rig.kubelet, "garbage.sock", true);
	rig_close(&rig);
}

/* A plugin that is gone and whose file is still there. */
static void test_dead_plugin(void)
{
	struct rig rig;
	struct rendezvous rendezvous = {.nonce = "0123456789abcde"};
	int client = -1;
	rig_open(&rig);
	close(listen_at_port(&rendezvous.port));
	put_rendezvous(&rig, "wddm.sock", &rendezvous);
	wait_for_file(&rig, rig.kubelet, "wddm.sock", true);
	client = connect_to(rig.kubelet, "wddm.sock");
	expect_all(&rig, client, "");
	close(client);
	UNIT_INT(rig.relay->link_count, 0);
	rig_close(&rig);
}

static void test_many(void)
{
	struct rig rig;
	struct rendezvous rendezvous = {.port = 9, .nonce = "0123456789abcde"};
	rig_open(&rig);
	for (int i = 0; i < RELAY_MIRRORS_MAX + 10; i++) {
		char name[32] = "";
		(void)snprintf(name, sizeof(name), "p%d.sock", i);
		put_rendezvous(&rig, name, &rendezvous);
	}
	relay_scan(rig.relay);
	UNIT_INT(mirror_count(&rig), RELAY_MIRRORS_MAX);
	UNIT_CONTAINS(text_string(&rig.notes), "the rest is not relayed");
	rig_close(&rig);
}

UNIT_MAIN("relay", {"the plugin calls the kubelet", test_to_kubelet},
	  {"the kubelet calls the plugin", test_to_plugin},
	  {"the dial-back during Register finds the socket", test_dial_back},
	  {"what is removed on one side is removed on the other", test_removal},
	  {"clients without the nonce", test_hostile_clients},
	  {"files that are no rendezvous files", test_hostile_files},
	  {"a plugin that is gone", test_dead_plugin}, {"more files than a relay takes", test_many})
