/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/starved.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "reference-plugin/answer/calls.h"
#include "reference-plugin/tests/sample_node.h"
#include "rpc/message.h"

#define CLEANUP_INVENTORY  CLEANUP(inventory_free)
#define CLEANUP_ALLOCATION CLEANUP(allocation_free)
#define CLEANUP_MOUNTS	   CLEANUP(additional_mounts_free)

static void ignore_event(const char *event, const struct inventory_device *device, void *user)
{
	(void)event;
	(void)device;
	(void)user;
}

/* A node whose files need not exist. */
static struct inventory recorded(struct discovery_device *devices, size_t count, uint32_t replicas)
{
	struct inventory inventory = {.replicas = replicas, .removal_grace_ms = 1000};
	struct discovery_snapshot snapshot = sample_snapshot(devices, count);
	snapshot.recorded = true;
	UNIT_INT(inventory_update(&inventory, &snapshot, 0, ignore_event, NULL, NULL), 0);
	return inventory;
}

struct question {
	const struct inventory *inventory;
	const struct answer_rules *rules;
	const V1beta1__AllocateRequest *request;
};

static int allocate_starved(void *user)
{
	const struct question *question = user;
	struct allocation allocation CLEANUP_ALLOCATION = {0};
	return allocate(question->inventory, INVENTORY_DISPLAY, question->rules, question->request,
			&allocation, NULL);
}

/* Allocate for one container with ids separated by blanks. */
static int ask_by(const struct inventory *inventory, const struct answer_rules *rules,
		  const char *ids, struct allocation *out, struct error *err)
{
	struct text_list list CLEANUP_TEXT_LIST = {0};
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	if (ids[0] != '\0')
		text_list_split(&list, ids, ' ');
	container.n_devices_ids = list.count;
	container.devices_ids = list.items;
	request.n_container_requests = 1;
	request.container_requests = containers;
	int rc = allocate(inventory, INVENTORY_DISPLAY, rules, &request, out, err);
	if (rc == 0)
		starved_each(allocate_starved, &(struct question){inventory, rules, &request});
	return rc;
}

static int ask(const struct inventory *inventory, const struct additional_mounts *additional,
	       const char *ids, struct allocation *out, struct error *err)
{
	const struct answer_rules rules = {.additional = additional};
	return ask_by(inventory, &rules, ids, out, err);
}

/* One line a thing that the container is given. */
static void describe(const V1beta1__ContainerAllocateResponse *answer, struct text *out)
{
	for (size_t i = 0; i < answer->n_devices; i++)
		text_addf(out, "device %s=>%s %s;", answer->devices[i]->host_path,
			  answer->devices[i]->container_path, answer->devices[i]->permissions);
	for (size_t i = 0; i < answer->n_mounts; i++)
		text_addf(out, "mount %s=>%s%s;", answer->mounts[i]->host_path,
			  answer->mounts[i]->container_path,
			  answer->mounts[i]->read_only ? "" : " writable");
	for (size_t i = 0; i < answer->n_envs; i++)
		text_addf(out, "env %s=%s;", answer->envs[i]->key, answer->envs[i]->value);
	for (size_t i = 0; i < answer->n_cdi_devices; i++)
		text_addf(out, "cdi %s;", answer->cdi_devices[i]->name);
}

static void expect_answer(const struct inventory *inventory,
			  const struct additional_mounts *additional, const char *ids,
			  const char *wanted)
{
	struct allocation allocation CLEANUP_ALLOCATION = {0};
	struct text seen CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(ask(inventory, additional, ids, &allocation, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(allocation.message.n_container_responses, 1);
	if (err.code == 0)
		describe(allocation.message.container_responses[0], &seen);
	UNIT_STRING(text_string(&seen), wanted);
}

/* The same with CDI; an answer or the text of an error. */
static void expect_cdi(const struct inventory *inventory,
		       const struct additional_mounts *additional, const char *ids, int code,
		       const char *wanted)
{
	const struct answer_rules rules = {.additional = additional, .cdi = true};
	struct allocation allocation CLEANUP_ALLOCATION = {0};
	struct text seen CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(ask_by(inventory, &rules, ids, &allocation, &err), code);
	if (err.code == 0)
		describe(allocation.message.container_responses[0], &seen);
	UNIT_STRING(err.code == 0 ? text_string(&seen) : err.text, wanted);
}

static void expect_error(const struct inventory *inventory, const char *ids, int code,
			 const char *wanted)
{
	struct allocation allocation CLEANUP_ALLOCATION = {0};
	struct error err = {0};
	UNIT_INT(ask(inventory, NULL, ids, &allocation, &err), code);
	UNIT_STRING(err.text, wanted);
}

static const struct discovery_file lavapipe_files[] = {
	{"/usr/lib/libvulkan_lvp.so", "/usr/lib/libvulkan_lvp.so", 64, false, "vulkan-icd"},
	{"/lib/libm.so.6", "/lib/libm.so.6", 64, false, "needed-library"},
};
static const struct discovery_variable lavapipe_variables[] = {
	{"VK_DRIVER_FILES", "/usr/share/vulkan/icd.d/lvp_icd.json"},
};
static const struct discovery_file pocl_files[] = {
	{"/lib/libm.so.6", "/lib/libm.so.6", 64, false, "needed-library"},
	{"/usr/lib/libpocl.so.2", "/usr/lib/libpocl.so.2", 64, false, "opencl-icd"},
};
static const struct discovery_variable pocl_variables[] = {
	{"OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd"},
};

static struct discovery_device lavapipe(const char *id)
{
	struct discovery_device device = sample_device(id);
	device.vendor = "Mesa";
	device.files = lavapipe_files;
	device.file_count = 2;
	device.environment = lavapipe_variables;
	device.variable_count = 1;
	return device;
}

static struct discovery_device pocl(const char *id)
{
	struct discovery_device device = sample_device(id);
	device.vendor = "PoCL";
	device.files = pocl_files;
	device.file_count = 2;
	device.environment = pocl_variables;
	device.variable_count = 1;
	return device;
}

static void test_answer_is_the_same_for_every_order(void)
{
	static const char both[] = "mount /lib/libm.so.6=>/lib/libm.so.6;"
				   "mount /usr/lib/libpocl.so.2=>/usr/lib/libpocl.so.2;"
				   "mount /usr/lib/libvulkan_lvp.so=>/usr/lib/libvulkan_lvp.so;"
				   "env OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd;"
				   "env VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json;";
	struct discovery_device devices[] = {lavapipe("lavapipe"), pocl("pocl")};
	struct inventory inventory CLEANUP_INVENTORY = recorded(devices, 2, 3);
	expect_answer(&inventory, NULL, "lavapipe::0 pocl::0", both);
	expect_answer(&inventory, NULL, "pocl::2 lavapipe::1", both);
	expect_answer(&inventory, NULL, "pocl::2 pocl::1 lavapipe::1", both);
}

static void test_replicas_of_one_device_collapse(void)
{
	static const struct discovery_node nodes[] = {
		{"/dev/dri/renderD128", "/dev/dri/renderD128", "rw"},
		{"/dev/dri/card0", "/dev/dri/card0", "rw"},
	};
	struct discovery_device device = sample_device("0000:03:00.0");
	struct discovery_device *devices = &device;
	struct inventory inventory CLEANUP_INVENTORY = {0};
	device.nodes = nodes;
	device.node_count = 2;
	inventory = recorded(devices, 1, 4);
	expect_answer(&inventory, NULL, "0000:03:00.0::3 0000:03:00.0::0",
		      "device /dev/dri/card0=>/dev/dri/card0 rw;"
		      "device /dev/dri/renderD128=>/dev/dri/renderD128 rw;");
}

static void test_shared_nodes_are_given_once(void)
{
	static const struct discovery_node first[] = {{"/dev/nvidia0", "/dev/nvidia0", "rw"},
						      {"/dev/nvidiactl", "/dev/nvidiactl", "rw"}};
	static const struct discovery_node second[] = {{"/dev/nvidia1", "/dev/nvidia1", "rw"},
						       {"/dev/nvidiactl", "/dev/nvidiactl", "rw"}};
	static const struct discovery_node other[] = {{"/dev/nvidia7", "/dev/nvidia1", "rw"}};
	struct discovery_device devices[] = {sample_device("a"), sample_device("b"),
					     sample_device("c")};
	struct inventory inventory CLEANUP_INVENTORY = {0};
	devices[0].nodes = first;
	devices[1].nodes = second;
	devices[2].nodes = other;
	devices[0].node_count = devices[1].node_count = 2;
	devices[2].node_count = 1;
	inventory = recorded(devices, 3, 1);
	expect_answer(&inventory, NULL, "b::0 a::0",
		      "device /dev/nvidia0=>/dev/nvidia0 rw;device /dev/nvidia1=>/dev/nvidia1 rw;"
		      "device /dev/nvidiactl=>/dev/nvidiactl rw;");
	expect_error(&inventory, "c::0 b::0", ERROR_UNSUPPORTED,
		     "devices 'b' and 'c' need different device nodes at '/dev/nvidia1'");
}

static void test_variables_of_several_devices(void)
{
	static const struct discovery_variable vulkan[] = {
		{"VK_DRIVER_FILES", "/icd/b.json:/usr/share/vulkan/icd.d/lvp_icd.json"}};
	static const struct discovery_variable opencl[] = {
		{"OCL_ICD_VENDORS", "/etc/OpenCL/vendors/b.icd"}};
	static const struct discovery_variable elsewhere[] = {
		{"OCL_ICD_VENDORS", "/opt/vendors/c.icd"}};
	static const struct discovery_variable mode[] = {{"MODE", "1"}};
	static const struct discovery_variable other_mode[] = {{"MODE", "2"}};
	struct discovery_device devices[] = {lavapipe("a"), lavapipe("b"), pocl("p"), pocl("q"),
					     pocl("r"),	    pocl("x"),	   pocl("y")};
	struct inventory inventory CLEANUP_INVENTORY = {0};
	struct allocation allocation CLEANUP_ALLOCATION = {0};
	struct error err = {0};
	devices[1].environment = vulkan;
	devices[3].environment = opencl;
	devices[4].environment = elsewhere;
	devices[5].environment = mode;
	devices[6].environment = other_mode;
	inventory = recorded(devices, 7, 1);
	UNIT_INT(ask(&inventory, NULL, "q::0 b::0 a::0 p::0", &allocation, &err), 0);
	CU_ASSERT_EQUAL_FATAL(allocation.message.container_responses[0]->n_envs, 2);
	UNIT_STRING(allocation.message.container_responses[0]->envs[0]->value,
		    "/etc/OpenCL/vendors");
	UNIT_STRING(allocation.message.container_responses[0]->envs[1]->value,
		    "/usr/share/vulkan/icd.d/lvp_icd.json:/icd/b.json");
	expect_error(&inventory, "p::0 r::0", ERROR_UNSUPPORTED,
		     "devices 'p' and 'r' have their OpenCL manifests in different directories: "
		     "'/etc/OpenCL/vendors' and '/opt/vendors'");
	expect_error(&inventory, "x::0 y::0", ERROR_UNSUPPORTED,
		     "devices 'x' and 'y' need different values of MODE: '1' and '2'");
}

static void test_contradicting_files(void)
{
	static const struct discovery_file other[] = {
		{"/opt/libpocl.so.2", "/usr/lib/libpocl.so.2", 64, false, "opencl-icd"}};
	struct discovery_device devices[] = {pocl("a"), pocl("b")};
	struct inventory inventory CLEANUP_INVENTORY = {0};
	devices[1].files = other;
	devices[1].file_count = 1;
	inventory = recorded(devices, 2, 1);
	expect_error(&inventory, "a::0 b::0", ERROR_UNSUPPORTED,
		     "devices 'b' and 'a' need different files at '/usr/lib/libpocl.so.2': "
		     "'/opt/libpocl.so.2' and '/usr/lib/libpocl.so.2'");
}

static void test_additional_mounts_give_way(void)
{
	struct discovery_device devices[] = {lavapipe("lavapipe"), pocl("pocl")};
	struct inventory inventory CLEANUP_INVENTORY = recorded(devices, 2, 1);
	struct additional_mounts mounts CLEANUP_MOUNTS = {0};
	UNIT_INT(additional_mounts_add(&mounts, ADDITIONAL_MOUNT_LINUX, "MESA", "/opt/tool", NULL,
				       NULL),
		 0);
	UNIT_INT(additional_mounts_add(&mounts, ADDITIONAL_MOUNT_LINUX, "mesa", "/opt/libm.so.6",
				       "/lib/libm.so.6", NULL),
		 0);
	expect_answer(&inventory, &mounts, "lavapipe::0",
		      "mount /lib/libm.so.6=>/lib/libm.so.6;mount /opt/tool=>/opt/tool;"
		      "mount /usr/lib/libvulkan_lvp.so=>/usr/lib/libvulkan_lvp.so;"
		      "env VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json;");
	expect_answer(&inventory, &mounts, "pocl::0",
		      "mount /lib/libm.so.6=>/lib/libm.so.6;"
		      "mount /usr/lib/libpocl.so.2=>/usr/lib/libpocl.so.2;"
		      "env OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd;");
}

/* The runtime finds in a Spec what a device brings; nothing is given twice. */
static void test_cdi_devices_are_named(void)
{
	static const struct discovery_variable other[] = {{"VK_DRIVER_FILES", "/icd/b.json"}};
	struct discovery_device devices[] = {lavapipe("lavapipe"), pocl("pocl"), lavapipe("x")};
	struct inventory inventory CLEANUP_INVENTORY = {0};
	struct additional_mounts mounts CLEANUP_MOUNTS = {0};
	devices[2].environment = other;
	inventory = recorded(devices, 3, 2);
	UNIT_INT(additional_mounts_add(&mounts, ADDITIONAL_MOUNT_LINUX, "mesa", "/opt/tool", NULL,
				       NULL),
		 0);
	expect_cdi(&inventory, NULL, "pocl::1 lavapipe::0 lavapipe::1", 0,
		   "cdi gpucert.internal/gpu=lavapipe;cdi gpucert.internal/gpu=pocl;");
	expect_cdi(&inventory, &mounts, "lavapipe::0", 0,
		   "mount /opt/tool=>/opt/tool;cdi gpucert.internal/gpu=lavapipe;");
	expect_cdi(&inventory, NULL, "x::0 lavapipe::0", ERROR_UNSUPPORTED,
		   "devices 'lavapipe' and 'x' need different values of VK_DRIVER_FILES, which CDI "
		   "cannot join: give a container one of them, or use delivery direct");
	inventory.windows = true;
	expect_cdi(&inventory, NULL, "lavapipe::0", ERROR_UNSUPPORTED,
		   "CDI has no devices of Windows");
}

static void test_ids_are_refused_by_name(void)
{
	struct discovery_device devices[] = {lavapipe("a"), lavapipe("sick"),
					     sample_device("bare")};
	struct inventory inventory CLEANUP_INVENTORY = {0};
	devices[1].health = DISCOVERY_UNHEALTHY;
	devices[1].health_reason = "driver is unbound";
	inventory = recorded(devices, 3, 2);
	expect_error(&inventory, "a::0 a::0", ERROR_ARGUMENT,
		     "device id \"a::0\" is asked for twice");
	expect_error(&inventory, "a::0 b::0", ERROR_NOT_FOUND,
		     "device id \"b::0\" names no device of this node");
	expect_error(&inventory, "sick::1", ERROR_UNAVAILABLE,
		     "device id \"sick::1\" is unhealthy: driver is unbound");
	expect_error(&inventory, "", ERROR_ARGUMENT, "a container asks for no device id");
	expect_error(&inventory, "bare::0", ERROR_UNSUPPORTED,
		     "device 'bare' has neither device nodes nor files to give");
}

static void test_containers_are_answered_in_order(void)
{
	struct discovery_device devices[] = {lavapipe("lavapipe"), pocl("pocl")};
	struct inventory inventory CLEANUP_INVENTORY = recorded(devices, 2, 1);
	static const struct answer_rules none;
	char *first[] = {wire_string("pocl::0")};
	char *second[] = {wire_string("lavapipe::0")};
	V1beta1__ContainerAllocateRequest containers[] = {
		V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT,
		V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT};
	V1beta1__ContainerAllocateRequest *pointers[] = {&containers[0], &containers[1]};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	struct allocation allocation CLEANUP_ALLOCATION = {0};
	struct allocation empty CLEANUP_ALLOCATION = {0};
	UNIT_INT(allocate(&inventory, INVENTORY_DISPLAY, &none, &request, &empty, NULL), 0);
	UNIT_INT(empty.message.n_container_responses, 0);
	containers[0].n_devices_ids = containers[1].n_devices_ids = 1;
	containers[0].devices_ids = first;
	containers[1].devices_ids = second;
	request.n_container_requests = 2;
	request.container_requests = pointers;
	UNIT_INT(allocate(&inventory, INVENTORY_DISPLAY, &none, &request, &allocation, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(allocation.message.n_container_responses, 2);
	UNIT_STRING(allocation.message.container_responses[0]->envs[0]->key, "OCL_ICD_VENDORS");
	UNIT_STRING(allocation.message.container_responses[1]->envs[0]->key, "VK_DRIVER_FILES");
}

static void test_missing_sources_are_named(void)
{
	char *directory CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = NULL;
	struct discovery_file file = {.destination = "/lib/driver.so", .origin = ""};
	struct discovery_node node = {.container_path = "/dev/gpu", .permissions = "rw"};
	struct discovery_device device = sample_device("a");
	struct discovery_snapshot snapshot = sample_snapshot(&device, 1);
	struct inventory inventory CLEANUP_INVENTORY = {.replicas = 1};
	char *missing CLEANUP_FREE = NULL;
	char *no_node CLEANUP_FREE = NULL;
	char *no_directory CLEANUP_FREE = NULL;
	char *wanted CLEANUP_FREE = NULL;
	UNIT_INT(file_make_temporary("/tmp", "gpucert-plugin-", &directory, NULL), 0);
	path = path_join(directory, "driver.so");
	missing = text_format("device 'a' needs '%s': No such file or directory", path);
	no_node = text_format("device 'a' needs '%s', which is not a character device", path);
	no_directory = text_format("device 'a' needs '%s', which is not a directory", path);
	file.source = path;
	node.path = path;
	device.files = &file;
	device.file_count = 1;
	device.nodes = &node;
	UNIT_INT(inventory_update(&inventory, &snapshot, 0, ignore_event, NULL, NULL), 0);
	expect_error(&inventory, "a::0", ERROR_IO, missing);
	UNIT_INT(file_write_atomic(path, "x", 1, 0644, NULL), 0);
	wanted = text_format("mount %s=>/lib/driver.so;", path);
	expect_answer(&inventory, NULL, "a::0", wanted);
	device.node_count = 1;
	expect_error(&inventory, "a::0", ERROR_IO, no_node);
	device.node_count = 0;
	file.directory = true;
	expect_error(&inventory, "a::0", ERROR_IO, no_directory);
	UNIT_INT(file_remove_tree(directory, NULL), 0);
}

static void test_sources_are_looked_for_below_the_root(void)
{
	char *root CLEANUP_FREE = NULL;
	char *directory CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = NULL;
	struct discovery_file file = {"/only/there/driver.so", "/lib/driver.so", 64, false, ""};
	struct discovery_device device = sample_device("a");
	struct discovery_snapshot snapshot = sample_snapshot(&device, 1);
	struct inventory inventory CLEANUP_INVENTORY = {.replicas = 1};
	UNIT_INT(file_make_temporary("/tmp", "gpucert-plugin-", &root, NULL), 0);
	directory = path_join(root, "only/there");
	path = path_join(directory, "driver.so");
	device.files = &file;
	device.file_count = 1;
	UNIT_INT(inventory_update(&inventory, &snapshot, 0, ignore_event, NULL, NULL), 0);
	UNIT_INT(file_make_directories(directory, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(path, "x", 1, 0644, NULL), 0);
	expect_error(&inventory, "a::0", ERROR_IO,
		     "device 'a' needs '/only/there/driver.so': No such file or directory");
	inventory.root = root;
	expect_answer(&inventory, NULL, "a::0", "mount /only/there/driver.so=>/lib/driver.so;");
	UNIT_INT(file_remove_tree(root, NULL), 0);
}

UNIT_MAIN("allocate",
	  {"the answer is the same for every order of ids",
	   test_answer_is_the_same_for_every_order},
	  {"replicas of one device collapse", test_replicas_of_one_device_collapse},
	  {"shared nodes are given once", test_shared_nodes_are_given_once},
	  {"variables of several devices", test_variables_of_several_devices},
	  {"contradicting files", test_contradicting_files},
	  {"additional mounts give way", test_additional_mounts_give_way},
	  {"CDI devices are named", test_cdi_devices_are_named},
	  {"ids are refused by name", test_ids_are_refused_by_name},
	  {"containers are answered in order", test_containers_are_answered_in_order},
	  {"missing sources are named", test_missing_sources_are_named},
	  {"sources are looked for below the root", test_sources_are_looked_for_below_the_root})
