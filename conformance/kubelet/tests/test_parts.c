/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tests/unit.h"
#include "conformance/kubelet/id_set.h"
#include "conformance/kubelet/kubelet.h"
#include "conformance/kubelet/pod.h"
#include "conformance/kubelet/state.h"
#include "rpc/resource_name.h"
#include "rpc/rpc.h"

#include <string.h>
#include <time.h>

static void test_resource_names(void)
{
	char longest[320];
	static const struct {
		const char *name;
		bool valid;
	} cases[] = {
		{"example.com/gpu", true},
		{"a/b", true},
		{"gpucert.internal/display", true},
		{"microsoft.com/directx_1.x", true},
		{"gpu", false},
		{"", false},
		{"/gpu", false},
		{"example.com/", false},
		{"example.com/a/b", false},
		{"a-.com/gpu", false},
		{"directx.microsoft.com/compute", true},
		{"a/B_c.d-E", true},
		{"Example.com/gpu", false},
		{"-example.com/gpu", false},
		{"example..com/gpu", false},
		{"example.com/-gpu", false},
		{"example.com/gpu-", false},
		{"example.com/gp u", false},
		{"kubernetes.io/gpu", false},
		{"vendor.kubernetes.io/gpu", false},
		{"requests.example.com/gpu", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = {0};
		bool valid = resource_name_check(cases[i].name, &err) == 0;
		if (valid != cases[i].valid)
			(void)printf("%s: %s\n", cases[i].name, err.text);
		CU_ASSERT_EQUAL(valid, cases[i].valid);
	}
	memset(longest, 'a', sizeof(longest));
	(void)snprintf(longest + 244, sizeof(longest) - 244, "/b");
	UNIT_INT(resource_name_check(longest, NULL), 0);
	longest[244] = 'a';
	(void)snprintf(longest + 245, sizeof(longest) - 245, "/b");
	UNIT_INT(resource_name_check(longest, NULL), ERROR_FORMAT);
	(void)snprintf(longest, sizeof(longest), "a/%063d", 0);
	UNIT_INT(resource_name_check(longest, NULL), 0);
	(void)snprintf(longest, sizeof(longest), "a/%064d", 0);
	UNIT_INT(resource_name_check(longest, NULL), ERROR_FORMAT);
}

static void test_fault_texts(void)
{
	struct fault_setting setting = {0};
	struct error err = {0};
	UNIT_INT(fault_setting_parse("register-status=14:come back: later*3", &setting, &err), 0);
	UNIT_INT(setting.fault, FAULT_REGISTER_STATUS);
	UNIT_INT(setting.code, 14);
	UNIT_STRING(setting.message, "come back: later");
	UNIT_INT(setting.times, 3);
	UNIT_INT(fault_setting_parse("register-status=NOT_FOUND", &setting, &err), 0);
	UNIT_INT(setting.code, RPC_NOT_FOUND);
	UNIT_INT(fault_setting_parse("register-delay=250", &setting, &err), 0);
	UNIT_INT(setting.delay_ms, 250);
	CU_ASSERT(setting.times == UINT64_MAX);
	static const char *const wrong[] = {"",
					    "nonsense",
					    "register-delay",
					    "register-delay=soon",
					    "register-status=99",
					    "register-status=NO_SUCH",
					    "register-hang=1",
					    "register-hang*0",
					    "register-hang*x"};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CU_ASSERT(fault_setting_parse(wrong[i], &setting, &err) != 0);
}

static void test_id_sets(void)
{
	struct id_set a CLEANUP_ID_SET = {0};
	struct id_set b CLEANUP_ID_SET = {0};
	struct id_set both CLEANUP_ID_SET = {0};
	const char *const some[] = {"c", "a", "b", "a"};
	const char *const others[] = {"b", "d", "b"};
	id_set_add_strings(&a, some, ARRAY_SIZE(some));
	UNIT_INT(a.list.count, 3);
	UNIT_STRING(a.list.items[0], "a");
	id_set_add_strings(&b, others, ARRAY_SIZE(others));
	UNIT_INT(b.list.count, 2);
	id_set_add(&both, &a);
	id_set_keep(&both, &b);
	UNIT_INT(both.list.count, 1);
	CU_ASSERT(id_set_has(&both, "b"));
	CU_ASSERT(id_set_contains(&a, &both));
	CU_ASSERT_FALSE(id_set_contains(&a, &b));
	id_set_remove(&a, &b);
	UNIT_INT(a.list.count, 2);
	CU_ASSERT_FALSE(id_set_has(&a, "b"));
	CU_ASSERT(id_set_has(&a, "c"));
}

/* Responses for the merge, in writable strings as protobuf-c wants them. */
struct answer_parts {
	V1beta1__ContainerAllocateResponse response;
	V1beta1__ContainerAllocateResponse__EnvsEntry env, *envs[1];
	V1beta1__Mount mount, *mounts[1];
	V1beta1__DeviceSpec device, *devices[1];
	V1beta1__CDIDevice cdi, *cdis[1];
	char text[8][32];
};

static void make_answer(struct answer_parts *parts, const char *path, const char *host, bool ro)
{
	v1beta1__container_allocate_response__init(&parts->response);
	v1beta1__container_allocate_response__envs_entry__init(&parts->env);
	v1beta1__mount__init(&parts->mount);
	v1beta1__device_spec__init(&parts->device);
	v1beta1__cdidevice__init(&parts->cdi);
	(void)snprintf(parts->text[0], sizeof(parts->text[0]), "GPU");
	(void)snprintf(parts->text[1], sizeof(parts->text[1]), "%s", host);
	(void)snprintf(parts->text[2], sizeof(parts->text[2]), "%s", path);
	(void)snprintf(parts->text[3], sizeof(parts->text[3]), "vendor.example/gpu=0");
	(void)snprintf(parts->text[4], sizeof(parts->text[4]), "rw");
	parts->env.key = parts->text[0];
	parts->env.value = parts->text[1];
	parts->mount.container_path = parts->text[2];
	parts->mount.host_path = parts->text[1];
	parts->mount.read_only = ro;
	parts->device.container_path = parts->text[2];
	parts->device.host_path = parts->text[1];
	parts->device.permissions = parts->text[4];
	parts->cdi.name = parts->text[3];
	parts->envs[0] = &parts->env;
	parts->mounts[0] = &parts->mount;
	parts->devices[0] = &parts->device;
	parts->cdis[0] = &parts->cdi;
	parts->response.envs = parts->envs;
	parts->response.n_envs = 1;
	parts->response.mounts = parts->mounts;
	parts->response.n_mounts = 1;
	parts->response.devices = parts->devices;
	parts->response.n_devices = 1;
	parts->response.annotations = NULL;
	parts->response.cdi_devices = parts->cdis;
	parts->response.n_cdi_devices = 1;
}

static const struct grant_conflict *conflict_of(const struct grant *grant, enum grant_kind kind)
{
	for (size_t i = 0; i < grant->conflict_count; i++)
		if (grant->conflicts[i].kind == kind)
			return &grant->conflicts[i];
	return NULL;
}

static void test_first_one_wins(void)
{
	static struct answer_parts first, second;
	struct grant grant = {0};
	make_answer(&first, "/dev/gpu", "/dev/a", true);
	make_answer(&second, "/dev/gpu", "/dev/b", false);
	const struct kubelet_answer answers[] = {{"example.com/a", &first.response},
						 {"example.com/b", &second.response}};
	kubelet_merge(false, answers, 2, &grant);
	UNIT_INT(grant.envs.count, 1);
	UNIT_STRING(grant.envs.items[0].value, "/dev/a");
	UNIT_INT(grant.mounts.count, 1);
	UNIT_STRING(grant.mounts.items[0].host_path, "/dev/a");
	CU_ASSERT(grant.mounts.items[0].read_only);
	UNIT_INT(grant.devices.count, 1);
	UNIT_INT(grant.cdi_devices.count, 1);
	UNIT_INT(grant.conflict_count, 4);
	const struct grant_conflict *mount = conflict_of(&grant, GRANT_MOUNT);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mount);
	if (mount == NULL)
		return;
	UNIT_STRING(mount->key, "/dev/gpu");
	UNIT_STRING(mount->winner, "/dev/a (ro)");
	UNIT_STRING(mount->winner_resource, "example.com/a");
	UNIT_STRING(mount->loser, "/dev/b (rw)");
	UNIT_STRING(mount->loser_resource, "example.com/b");
	CU_ASSERT_FALSE(mount->same);
	const struct grant_conflict *cdi = conflict_of(&grant, GRANT_CDI_DEVICE);
	CU_ASSERT(cdi != NULL && cdi->same);
	cJSON *json CLEANUP_JSON = grant_json(&grant);
	CU_ASSERT_PTR_NOT_NULL(json_pointer(json, "/conflicts/3/loser"));
	CU_ASSERT_PTR_NOT_NULL(json_pointer(json, "/mounts/0/read_only"));
	grant_free(&grant);
}

/* A map's last value of a key counts, and that alone. */
static void test_last_value_of_a_key(void)
{
	static struct answer_parts parts;
	V1beta1__ContainerAllocateResponse__EnvsEntry again;
	V1beta1__ContainerAllocateResponse__EnvsEntry *envs[] = {&parts.env, &again};
	struct grant grant = {0};
	char name[] = "GPU";
	char value[] = "later";
	make_answer(&parts, "/dev/gpu", "/dev/a", true);
	v1beta1__container_allocate_response__envs_entry__init(&again);
	again.key = name;
	again.value = value;
	parts.response.envs = envs;
	parts.response.n_envs = 2;
	const struct kubelet_answer answers[] = {{"example.com/a", &parts.response}};
	kubelet_merge(false, answers, 1, &grant);
	UNIT_INT(grant.envs.count, 1);
	UNIT_STRING(grant.envs.items[0].value, "later");
	const struct grant_conflict *env = conflict_of(&grant, GRANT_ENV);
	CU_ASSERT(env != NULL && strcmp(env->winner, "later") == 0 &&
		  strcmp(env->loser, "/dev/a") == 0);
	grant_free(&grant);
}

/* Each of them twice. Its time is the harness' own: comparing each with each would take minutes. */
static void test_many_mounts(void)
{
	enum { COUNT = 100000 };
	V1beta1__ContainerAllocateResponse response = V1BETA1__CONTAINER_ALLOCATE_RESPONSE__INIT;
	V1beta1__Mount *mounts CLEANUP_FREE = calloc(COUNT, sizeof(*mounts));
	V1beta1__Mount **list CLEANUP_FREE = calloc(COUNT, sizeof(*list));
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	struct grant grant = {0};
	CU_ASSERT_FATAL(mounts != NULL && list != NULL);
	if (mounts == NULL || list == NULL)
		return;
	for (size_t i = 0; i < COUNT; i++) {
		text_list_take(&paths, text_format("/lib/%zu", i));
		v1beta1__mount__init(&mounts[i]);
		mounts[i].container_path = paths.items[i];
		mounts[i].host_path = paths.items[i];
		list[i] = &mounts[i];
	}
	response.mounts = list;
	response.n_mounts = COUNT;
	const struct kubelet_answer answers[] = {{"a.example/x", &response},
						 {"b.example/x", &response}};
	clock_t start = clock();
	kubelet_merge(false, answers, 2, &grant);
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
	UNIT_INT(grant.mounts.count, COUNT);
	UNIT_INT(grant.conflict_count, COUNT);
	UNIT_STRING(grant.mounts.items[COUNT - 1].host_path, paths.items[COUNT - 1]);
	UNIT_STRING(grant.conflicts[COUNT - 1].key, paths.items[COUNT - 1]);
	grant_free(&grant);
}

static void test_folder_of_device_nodes(void)
{
	static struct answer_parts parts;
	struct grant grant = {0};
	bool found = false;
	make_answer(&parts, "/gpus", "/dev", true);
	kubelet_merge(false, &(const struct kubelet_answer){"a.example/x", &parts.response}, 1,
		      &grant);
	grant_each (device, &grant.devices)
		found |= strcmp(device->container_path, "/gpus/null") == 0 &&
			 strcmp(device->host_path, "/dev/null") == 0;
	CU_ASSERT_EQUAL(found, file_exists("/dev/null"));
	grant_free(&grant);
}

static void test_windows_drops_cdi_and_later_devices(void)
{
	static struct answer_parts first, second;
	struct grant grant = {0};
	make_answer(&first, "", "class/5B45201D-F2F2-4F3B-85BB", false);
	make_answer(&second, "", "vpci-location-path://PCIROOT", false);
	const struct kubelet_answer answers[] = {{"a.example/x", &first.response},
						 {"b.example/x", &second.response}};
	kubelet_merge(true, answers, 2, &grant);
	UNIT_INT(grant.cdi_devices.count, 0);
	UNIT_INT(grant.devices.count, 1);
	UNIT_STRING(grant.devices.items[0].host_path, "class/5B45201D-F2F2-4F3B-85BB");
	const struct grant_conflict *cdi = conflict_of(&grant, GRANT_CDI_DEVICE);
	CU_ASSERT(cdi != NULL && cdi->dropped);
	const struct grant_conflict *device = conflict_of(&grant, GRANT_DEVICE);
	CU_ASSERT(device != NULL && !device->same && !device->dropped);
	grant_free(&grant);
}

static void test_events_have_one_json_form(void)
{
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_REGISTER_ANSWERED);
	event.resource = "example.com/gpu";
	event.code = RPC_NOT_FOUND;
	event.text = "\xff\n";
	cJSON *json CLEANUP_JSON = kubelet_event_json(&event);
	const cJSON *code = json_pointer(json, "/code");
	const cJSON *name = json_pointer(json, "/event");
	CU_ASSERT(code != NULL && name != NULL);
	UNIT_STRING(code == NULL ? "" : code->valuestring, "NOT_FOUND");
	UNIT_STRING(name == NULL ? "" : name->valuestring, "register-answered");
	CU_ASSERT_PTR_NULL(json_pointer(json, "/capacity"));
	char *line CLEANUP_FREE = json_print_compact(json);
	CU_ASSERT(line != NULL && strchr(line, '\n') == NULL);
}

/* Expected values: strconv.Quote and Code.String() of Go. */
static void test_go_texts(void)
{
	static const struct {
		const char *string, *quoted;
	} cases[] = {
		{"", "\"\""},
		{"v1beta1", "\"v1beta1\""},
		{"a\"b\\c", "\"a\\\"b\\\\c\""},
		{"\a\b\f\n\r\t\v", "\"\\a\\b\\f\\n\\r\\t\\v\""},
		{"\x01\x7f", "\"\\x01\\x7f\""},
		{"\xff\xc3", "\"\\xff\\xc3\""},
		{"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
		{"\xe2\x80\x8b\xef\xbb\xbf\xc2\xa0", "\"\\u200b\\ufeff\\u00a0\""},
		{"\xf3\xa0\x80\x81\xf0\x9f\x8e\xae", "\"\\U000e0001\xf0\x9f\x8e\xae\""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct text text CLEANUP_TEXT = {0};
		go_quote(&text, cases[i].string);
		UNIT_STRING(text_string(&text), cases[i].quoted);
	}
	char *known CLEANUP_FREE = go_status_text(RPC_NOT_FOUND, "text");
	char *unknown CLEANUP_FREE = go_status_text(99, "");
	UNIT_STRING(known, "rpc error: code = NotFound desc = text");
	UNIT_STRING(unknown, "rpc error: code = Code(99) desc = ");
}

static void test_profiles(void)
{
	enum kubelet_profile profile = KUBELET_PROFILE_1_36;
	struct error err = {0};
	UNIT_INT(kubelet_profile_parse("1.37", &profile, &err), 0);
	UNIT_INT(profile, KUBELET_PROFILE_1_37);
	UNIT_INT(kubelet_profile_parse("1.36", &profile, &err), 0);
	UNIT_INT(profile, KUBELET_PROFILE_1_36);
	UNIT_INT(kubelet_profile_parse("1.38", &profile, &err), ERROR_ARGUMENT);
}

UNIT_MAIN("kubelet parts", {"resource names", test_resource_names},
	  {"fault texts", test_fault_texts}, {"id sets", test_id_sets},
	  {"the first answer wins", test_first_one_wins},
	  {"the last value of a key counts", test_last_value_of_a_key},
	  {"100,000 mounts", test_many_mounts},
	  {"each node of a folder", test_folder_of_device_nodes},
	  {"Windows drops CDI devices and later device specs",
	   test_windows_drops_cdi_and_later_devices},
	  {"events have one JSON form", test_events_have_one_json_form},
	  {"texts of the kubelet's language", test_go_texts}, {"profiles", test_profiles})
