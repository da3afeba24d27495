/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/tests/rig.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "conformance/kubelet/plugin_directory.h"
#include "rpc/transport.h"

#include <unistd.h>

#ifndef _WIN32
#include <sys/stat.h>
#endif

static void leave_waiting(struct listener *listener, void *user)
{
	(void)listener;
	(void)user;
}

/* Something that listens at a path; close with listener_close(). */
static struct listener *serve(struct rig *rig, const char *path)
{
	const struct listener_options options = {.mode = 0600, .on_connection = leave_waiting};
	struct listener *listener = NULL;
	struct address address;
	CHECK_OK(address_of_path(path, &address, ERR));
	CHECK_OK(listener_open(&rig->loop, &address, &options, &listener, ERR));
	return listener;
}

/* A socket file that nobody serves: what a killed server leaves. */
static void abandon(struct rig *rig, const char *path)
{
	char *aside CLEANUP_FREE = text_format("%s~", path);
	struct listener *listener = serve(rig, path);
	CU_ASSERT_EQUAL(rename(path, aside), 0);
	listener_close(listener, NULL);
	CU_ASSERT_EQUAL(rename(aside, path), 0);
}

static struct socket_identity identify(const char *path)
{
	struct socket_identity identity = {0};
	CU_ASSERT(socket_identify(path, &identity));
	return identity;
}

static bool is_same_file(const struct socket_identity *before, const char *path)
{
	struct socket_identity now;
	return socket_identify(path, &now) && socket_is_same(before, &now);
}

static void put(const char *directory, const char *name, const char *content)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	CHECK_OK(file_write_atomic(path, content, strlen(content), 0600, ERR));
}

static bool is_there(const char *directory, const char *name)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	return file_exists(path);
}

static void test_start_makes_and_sweeps_the_directory(void)
{
	struct rig rig;
	rig_init(&rig);
	rig_make(&rig, NULL);
	CHECK_OK(kubelet_start(rig.kubelet, ERR));
#ifdef _WIN32
	CU_ASSERT(file_is_directory(rig.plugin_dir));
#else
	struct stat status = {0};
	CU_ASSERT_FATAL(stat(rig.plugin_dir, &status) == 0);
	UNIT_INT(status.st_mode & 07777, 0750);
	CU_ASSERT_FATAL(stat(kubelet_socket(rig.kubelet), &status) == 0);
	UNIT_INT(status.st_mode & 07777, 0755);
#endif
	kubelet_stop(rig.kubelet);
	CU_ASSERT_FALSE(is_there(rig.plugin_dir, "kubelet.sock"));
	char *stale CLEANUP_FREE = path_join(rig.plugin_dir, "stale.sock");
	char *kubelet CLEANUP_FREE = path_join(rig.plugin_dir, "kubelet.sock");
	char *folder CLEANUP_FREE = path_join(rig.plugin_dir, "folder");
	abandon(&rig, stale);
	abandon(&rig, kubelet);
	CHECK_OK(file_make_directories(folder, 0700, ERR));
	put(rig.plugin_dir, "DEPRECATION", "");
	CHECK_OK(kubelet_start(rig.kubelet, ERR));
	CU_ASSERT_FALSE(is_there(rig.plugin_dir, "stale.sock"));
	CU_ASSERT(is_there(rig.plugin_dir, "folder"));
	CU_ASSERT(is_there(rig.plugin_dir, "DEPRECATION"));
	UNIT_INT(rig.events[KUBELET_EVENT_SOCKET_SWEPT], 2);
	rig_close(&rig);
}

static void test_live_directory_is_refused(void)
{
	struct rig rig;
	struct error err = {0};
	rig_init(&rig);
	CHECK_OK(file_make_directories(rig.plugin_dir, 0750, ERR));
	char *kubelet CLEANUP_FREE = path_join(rig.plugin_dir, "kubelet.sock");
	char *other CLEANUP_FREE = path_join(rig.plugin_dir, "vendor.sock");
	struct listener *live = serve(&rig, kubelet);
	struct listener *vendor = serve(&rig, other);
	put(rig.plugin_dir, KUBELET_CHECKPOINT_NAME, "{\"Data\": {}, \"Checksum\": 1}");
	struct socket_identity before = identify(kubelet);
	rig_make(&rig, NULL);
	UNIT_INT(kubelet_start(rig.kubelet, &err), ERROR_EXISTS);
	UNIT_CONTAINS(err.text, kubelet);
	CU_ASSERT(is_same_file(&before, kubelet));
	CU_ASSERT(is_there(rig.plugin_dir, "vendor.sock"));
	CU_ASSERT(is_there(rig.plugin_dir, KUBELET_CHECKPOINT_NAME));
	listener_close(live, NULL);
	listener_close(vendor, NULL);
	rig_close(&rig);
}

static void test_take_over_puts_everything_back(void)
{
	struct rig rig;
	const struct kubelet_options options = {.take_over = true};
	rig_init(&rig);
	CHECK_OK(file_make_directories(rig.plugin_dir, 0750, ERR));
	char *kubelet CLEANUP_FREE = path_join(rig.plugin_dir, "kubelet.sock");
	char *other CLEANUP_FREE = path_join(rig.plugin_dir, "vendor.sock");
	char *checkpoint CLEANUP_FREE = path_join(rig.plugin_dir, KUBELET_CHECKPOINT_NAME);
	struct listener *live = serve(&rig, kubelet);
	struct listener *vendor = serve(&rig, other);
	put(rig.plugin_dir, KUBELET_CHECKPOINT_NAME, "{\"Data\": {}, \"Checksum\": 1}");
	struct socket_identity kubelet_inode = identify(kubelet);
	struct socket_identity vendor_inode = identify(other);
	rig_make(&rig, &options);
	CHECK_OK(kubelet_start(rig.kubelet, ERR));
	CU_ASSERT_FALSE(is_same_file(&kubelet_inode, kubelet));
	CU_ASSERT_FALSE(is_there(rig.plugin_dir, "vendor.sock"));
	(void)rig_plugin(&rig, "{'device_count': 1}");
	rig_wait_listed(&rig);
	CHECK_OK(kubelet_restart(rig.kubelet, KUBELET_RESTART_WHOLE, ERR));
	kubelet_free(rig.kubelet);
	rig.kubelet = NULL;
	CU_ASSERT(is_same_file(&kubelet_inode, kubelet));
	CU_ASSERT(is_same_file(&vendor_inode, other));
	CU_ASSERT_FALSE(is_there(rig.plugin_dir, KUBELET_MOVED_NAME));
	cJSON *json CLEANUP_JSON = NULL;
	CHECK_OK(json_read_file(checkpoint, &json, ERR));
	CU_ASSERT_PTR_NOT_NULL(json_pointer(json, "/Checksum"));
	bool served = false;
	CHECK_OK(socket_is_served(kubelet, &served, ERR));
	CU_ASSERT(served);
	listener_close(live, NULL);
	listener_close(vendor, NULL);
	rig_close(&rig);
}

/* A live kubelet goes on admitting pods: what it writes meanwhile is what it must find. */
static void test_checkpoint_of_a_live_kubelet_is_its_own(void)
{
	struct rig rig;
	const struct kubelet_options options = {.take_over = true};
	rig_init(&rig);
	CHECK_OK(file_make_directories(rig.plugin_dir, 0750, ERR));
	char *kubelet CLEANUP_FREE = path_join(rig.plugin_dir, "kubelet.sock");
	char *checkpoint CLEANUP_FREE = path_join(rig.plugin_dir, KUBELET_CHECKPOINT_NAME);
	static const char newer[] = "{\"Data\": {\"pods\": 2}, \"Checksum\": 2}";
	static const char *const before[] = {"{\"Data\": {}, \"Checksum\": 1}", NULL};
	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		struct listener *live = serve(&rig, kubelet);
		if (before[i] != NULL)
			put(rig.plugin_dir, KUBELET_CHECKPOINT_NAME, before[i]);
		rig_make(&rig, &options);
		CHECK_OK(kubelet_start(rig.kubelet, ERR));
		put(rig.plugin_dir, KUBELET_CHECKPOINT_NAME, newer);
		struct scripted_plugin *plugin = rig_plugin(&rig, "{'device_count': 1}");
		rig_wait_listed(&rig);
		struct kubelet_outcome outcome = rig_admit(&rig, "pod", "main", 1);
		CU_ASSERT(outcome.accepted);
		kubelet_outcome_free(&outcome);
		CHECK_OK(kubelet_restart(rig.kubelet, KUBELET_RESTART_WHOLE, ERR));
		rig_wait_listed(&rig);
		UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).in_use, 1);
		rig_stop_plugin(&rig, plugin);
		kubelet_free(rig.kubelet);
		rig.kubelet = NULL;
		char *content CLEANUP_FREE = NULL;
		CHECK_OK(file_read(checkpoint, 1000, &content, NULL, ERR));
		UNIT_STRING(content, newer);
		CU_ASSERT_FALSE(is_there(rig.plugin_dir, KUBELET_MOVED_NAME));
		listener_close(live, NULL);
		CHECK_OK(file_remove_tree(checkpoint, ERR));
	}
	rig_close(&rig);
}

/* The command is pointed at a folder in which others have sockets, /run say. */
static void test_sockets_of_others_stay(void)
{
	struct rig rig;
	rig_init(&rig);
	CHECK_OK(file_make_directories(rig.plugin_dir, 0750, ERR));
	char *other CLEANUP_FREE = path_join(rig.plugin_dir, "other.sock");
	char *stale CLEANUP_FREE = path_join(rig.plugin_dir, "stale.sock");
	struct listener *listener = serve(&rig, other);
	struct socket_identity identity = identify(other);
	abandon(&rig, stale);
	rig_make(&rig, NULL);
	CHECK_OK(kubelet_start(rig.kubelet, ERR));
	CU_ASSERT(is_same_file(&identity, other));
	CU_ASSERT_FALSE(is_there(rig.plugin_dir, "stale.sock"));
	UNIT_CONTAINS(rig.last_text[KUBELET_EVENT_PROBLEM], "other.sock stays");
	CHECK_OK(kubelet_restart(rig.kubelet, KUBELET_RESTART_WHOLE, ERR));
	CU_ASSERT(is_same_file(&identity, other));
	listener_close(listener, NULL);
	rig_close(&rig);
}

static void test_nothing_is_removed_where_no_kubelet_can_start(void)
{
	struct rig rig;
	struct error err = {0};
	rig_init(&rig);
	CHECK_OK(file_make_directories(rig.plugin_dir, 0750, ERR));
	char *stale CLEANUP_FREE = path_join(rig.plugin_dir, "stale.sock");
	abandon(&rig, stale);
	put(rig.plugin_dir, "kubelet.sock", "a file");
	rig_make(&rig, NULL);
	UNIT_INT(kubelet_start(rig.kubelet, &err), ERROR_EXISTS);
	UNIT_CONTAINS(err.text, "kubelet.sock is not a socket");
	CU_ASSERT(is_there(rig.plugin_dir, "stale.sock"));
	CU_ASSERT(is_there(rig.plugin_dir, "kubelet.sock"));
	rig_close(&rig);
}

/* What a plugin did to kubelet.sock is told, and a restart gets over it. */
static void test_harm_to_the_socket_is_told(void)
{
	static const enum kubelet_restart kinds[] = {KUBELET_RESTART_WHOLE,
						     KUBELET_RESTART_KUBELET_SOCKET};
	static const char *const harms[] = {"removed", "replaced"};
	for (size_t i = 0; i < ARRAY_SIZE(kinds) * ARRAY_SIZE(harms); i++) {
		struct rig rig;
		struct listener *own = NULL;
		bool is_replaced = i % ARRAY_SIZE(harms) == 1;
		bool served = false;
		rig_start(&rig, KUBELET_PROFILE_1_36);
		const char *socket = kubelet_socket(rig.kubelet);
		CU_ASSERT_PTR_NULL(kubelet_socket_harm(rig.kubelet));
		CHECK_OK(kubelet_restart(rig.kubelet, KUBELET_RESTART_WHOLE, ERR));
		CU_ASSERT_PTR_NULL(kubelet_socket_harm(rig.kubelet));
		CHECK_OK(file_remove_tree(is_replaced ? socket : rig.plugin_dir, ERR));
		if (is_replaced)
			own = serve(&rig, socket);
		CHECK_OK(kubelet_restart(rig.kubelet, kinds[i / ARRAY_SIZE(kinds)], ERR));
		UNIT_STRING(kubelet_socket_harm(rig.kubelet), harms[is_replaced]);
		if (own != NULL)
			listener_close(own, NULL);
		CHECK_OK(socket_is_served(socket, &served, ERR));
		CU_ASSERT(served);
		rig_close(&rig);
	}
}

/* As test_take_over_puts_everything_back(), but whoever took over was killed. */
static void test_what_a_dead_run_moved_is_restored(void)
{
	struct rig rig;
	bool restored = true;
	rig_init(&rig);
	char *aside CLEANUP_FREE = path_join(rig.plugin_dir, KUBELET_MOVED_NAME);
	char *kubelet CLEANUP_FREE = path_join(aside, "kubelet.sock");
	char *vendor CLEANUP_FREE = path_join(aside, "vendor.sock");
	char *abandoned CLEANUP_FREE = path_join(aside, "abandoned.sock");
	char *dead CLEANUP_FREE = path_join(rig.plugin_dir, "kubelet.sock");
	char *checkpoint CLEANUP_FREE = path_join(rig.plugin_dir, KUBELET_CHECKPOINT_NAME);
	CHECK_OK(file_make_directories(rig.plugin_dir, 0750, ERR));
	CHECK_OK(plugin_directory_restore(rig.plugin_dir, &restored, ERR));
	CU_ASSERT_FALSE(restored);
	CHECK_OK(file_make_directories(aside, 0700, ERR));
	struct listener *live = serve(&rig, kubelet);
	struct listener *serving = serve(&rig, vendor);
	struct socket_identity kubelet_inode = identify(kubelet);
	abandon(&rig, abandoned);
	abandon(&rig, dead);
	put(aside, "checkpoint", "{\"Data\": {}}");
	put(rig.plugin_dir, KUBELET_CHECKPOINT_NAME, "{\"Data\": {}, \"Checksum\": 1}");
	int lock = -1;
	CHECK_OK(file_lock_directory(aside, &lock, ERR));
	UNIT_INT(plugin_directory_restore(rig.plugin_dir, &restored, NULL), ERROR_BUSY);
	(void)close(lock);
	CHECK_OK(plugin_directory_restore(rig.plugin_dir, &restored, ERR));
	CU_ASSERT(restored);
	CU_ASSERT(is_same_file(&kubelet_inode, dead));
	CU_ASSERT(is_there(rig.plugin_dir, "vendor.sock"));
	CU_ASSERT_FALSE(is_there(rig.plugin_dir, "abandoned.sock"));
	CU_ASSERT_FALSE(is_there(rig.plugin_dir, KUBELET_MOVED_NAME));
	cJSON *json CLEANUP_JSON = NULL;
	CHECK_OK(json_read_file(checkpoint, &json, ERR));
	CU_ASSERT_PTR_NOT_NULL(json_pointer(json, "/Checksum"));
	rig_make(&rig, NULL);
	listener_close(live, NULL);
	listener_close(serving, NULL);
	rig_close(&rig);
}

static void test_plugin_registers_again_after_restart(void)
{
	static const enum kubelet_restart kinds[] = {KUBELET_RESTART_WHOLE,
						     KUBELET_RESTART_PLUGIN_SOCKETS,
						     KUBELET_RESTART_KUBELET_SOCKET};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct rig rig;
		rig_start(&rig, KUBELET_PROFILE_1_36);
		struct scripted_plugin *plugin = rig_plugin(&rig, "{'device_count': 2}");
		rig_wait_listed(&rig);
		struct socket_identity before = identify(kubelet_socket(rig.kubelet));
		char *socket CLEANUP_FREE = strdup(scripted_plugin_socket(plugin));
		CHECK_OK(kubelet_restart(rig.kubelet, kinds[i], ERR));
		CU_ASSERT_EQUAL(file_exists(socket), kinds[i] == KUBELET_RESTART_KUBELET_SOCKET);
		UNIT_INT(rig_registration(&rig, 1)->code, RPC_OK);
		rig_wait_event(&rig, KUBELET_EVENT_DEVICES, 2);
		UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).allocatable, 2);
		if (kinds[i] == KUBELET_RESTART_PLUGIN_SOCKETS)
			CU_ASSERT(is_same_file(&before, kubelet_socket(rig.kubelet)));
		rig_close(&rig);
	}
}

static void test_resource_is_known_but_empty_after_restart(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'device_count': 2, 'on_kubelet_socket': 'ignore',"
			       " 'on_socket_removed': 'ignore'}");
	rig_wait_listed(&rig);
	kubelet_stop(rig.kubelet);
	CHECK_OK(kubelet_start(rig.kubelet, ERR));
	struct kubelet_resource_status status = kubelet_resource_status(rig.kubelet, RIG_RESOURCE);
	CU_ASSERT(status.known && !status.connected && !status.listed);
	UNIT_INT(status.capacity, 0);
	kubelet_advance_time(rig.kubelet, UINT64_C(5) * 60 * 1000);
	CU_ASSERT_FALSE(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).known);
	rig_close(&rig);
}

/* MaxConnectionAge: GOAWAY on a connection whose ListAndWatch goes on. */
static void test_connections_that_age(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'goaway_ms': 150, 'device_count': 2, 'lists': [{'after_ms': 400,"
				 " 'device_count': 3}]}");
	rig_wait_listed(&rig);
	struct kubelet_plugin *connection = kubelet_resource_plugin(rig.kubelet, RIG_RESOURCE);
	while (rig.events[KUBELET_EVENT_DEVICES] < 2) {
		struct rpc_answer reply = {0};
		loop_run_for(&rig.loop, 20);
		CHECK_OK(kubelet_call_options(connection, RIG_PATIENCE_MS, &reply, ERR));
		UNIT_INT(reply.code, RPC_OK);
		rpc_answer_free(&reply);
	}
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).allocatable, 3);
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_LIST_AND_WATCH), 1);
	struct kubelet_outcome outcome = rig_admit(&rig, "pod", "main", 3);
	CU_ASSERT(outcome.accepted);
	kubelet_outcome_free(&outcome);
	rig_close(&rig);
}

static void test_bad_directories(void)
{
	struct rig rig;
	struct error err = {0};
	char deep[200];
	struct kubelet *kubelet = NULL;
	rig_init(&rig);
	memset(deep, 'x', sizeof(deep));
	deep[0] = '/';
	deep[sizeof(deep) - 1] = '\0';
	UNIT_INT(kubelet_new(&rig.loop, &(struct kubelet_options){.plugin_dir = "relative"},
			     &kubelet, &err),
		 ERROR_ARGUMENT);
	UNIT_INT(kubelet_new(&rig.loop, &(struct kubelet_options){.plugin_dir = deep}, &kubelet,
			     &err),
		 ERROR_LIMIT);
	put(rig.directory, "device-plugins", "a file");
	rig_make(&rig, NULL);
	CU_ASSERT(kubelet_start(rig.kubelet, &err) != 0);
	UNIT_CONTAINS(err.text, rig.plugin_dir);
	rig_close(&rig);
}

UNIT_MAIN("kubelet life cycle",
	  {"the directory is made and swept", test_start_makes_and_sweeps_the_directory},
	  {"a live kubelet's directory is refused", test_live_directory_is_refused},
	  {"what was taken over is put back", test_take_over_puts_everything_back},
	  {"the checkpoint of a live kubelet is its own",
	   test_checkpoint_of_a_live_kubelet_is_its_own},
	  {"sockets of others stay", test_sockets_of_others_stay},
	  {"nothing is removed where no kubelet can start",
	   test_nothing_is_removed_where_no_kubelet_can_start},
	  {"harm to kubelet.sock is reported", test_harm_to_the_socket_is_told},
	  {"what a dead run moved aside is restored", test_what_a_dead_run_moved_is_restored},
	  {"a plugin registers again after each kind of restart",
	   test_plugin_registers_again_after_restart},
	  {"a resource is known but empty after a restart",
	   test_resource_is_known_but_empty_after_restart},
	  {"connections that age are replaced", test_connections_that_age},
	  {"bad directories are errors", test_bad_directories})
