/* SPDX-License-Identifier: MIT */
/* A probe to begin with. Its API is the C library, with one device that is there. */
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#define TOY_LIBRARY "libc.so.6"

/* What open() finds: the functions of the library, and the devices. */
struct toy {
	int (*rand_r)(unsigned *seed);
};

/* One piece of work on one device. */
struct computation {
	struct toy *toy;
	const struct work_request *request;
	struct work_report *report;
	struct work_data data;
};

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	(void)err;
	work_data_new(&c->data, c->request);
	return 0;
}

/* Here the device works: values[i] = mix(values[i] ^ key), y[i] = 3 x[i] + y[i] (reference.h). */
static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	uint32_t *values = c->data.arrays[WORK_VALUES];
	const float *x = c->data.arrays[WORK_X];
	float *y = c->data.arrays[WORK_Y];
	unsigned state = c->request->seed;
	if (c->toy->rand_r(&state) < 0)
		return call_failed(&c->report->failure, "rand_r", -1, NULL, err);
	for (size_t i = 0; i < c->request->elements; i++) {
		values[i] = work_expected_value(c->request->seed, i);
		y[i] = WORK_SCALE * x[i] + y[i];
	}
	return 0;
}

static int toy_work(void *session, const struct work_request *request, struct work_report *report,
		    struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_MEMORY] = create_memory,
		[WORK_STAGE_DISPATCH] = dispatch,
	};
	struct computation c = {.toy = session, .request = request, .report = report};
	int rc = work_run(steps, &c, &c.data, report, err);
	if (rc != ERROR_TIMEOUT) /* the device may still use it */
		work_data_free(&c.data);
	return rc;
}

static cJSON *describe(void)
{
	struct members device CLEANUP_MEMBERS = members_new();
	member_number(&device, "index", 0);
	member_string(&device, "name", "Toy");
	member_string(&device, "type", "cpu");
	member_bool(&device, "software", true);
	api_add_driver(&device, "1.0");
	return members_take(&device);
}

static int toy_open(struct api_report *report, void *session, struct error *err)
{
	struct toy *toy = session;
	const struct api_function functions[] = {{"rand_r", &toy->rand_r}, {NULL, NULL}};
	int rc = api_load(report, TOY_LIBRARY, functions, err);
	if (rc == 0)
		api_report_device(report, describe());
	return rc;
}

const struct api_driver toy_api = {
	.name = "toy",
	.library = TOY_LIBRARY,
	.summary = "Run verified work on a Toy device and report what happened",
	.description =
		"Opens Toy, works on one device and verifies every element of the result on the CPU.",
	.session_size = sizeof(struct toy),
	.open = toy_open,
	.work = toy_work,
};
