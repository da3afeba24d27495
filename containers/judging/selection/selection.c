/* SPDX-License-Identifier: MIT */
#include "containers/judging/selection/selection.h"

#include "base/cleanup.h"
#include "base/version.h"
#include "containers/judging/selection/internal.h"

#include <stdlib.h>
#include <string.h>

void selection_free(struct selection *selection)
{
	arena_free(&selection->arena);
	*selection = (struct selection){0};
}

enum compat_verdict selection_verdict(const struct selection *selection)
{
	return selection->count > 0 ? selection->items[0].verdict : COMPAT_CANNOT_WORK;
}

static int compare_backwards(const char *a, const char *b)
{
	return -strcmp(a, b);
}

/* After the verdict, in this order. Between equal numbers `compare` orders the texts. */
enum {
	STEP_GPU,
	STEP_CPU_LEVEL,
	STEP_CUDA_DRIVER,
	STEP_CUDA,
	STEP_OS_BUILD,
	STEP_CREATED,
	STEP_REFERENCE
};
static const struct step {
	const char *name;
	const char *has;			      /* in front of the text */
	int (*compare)(const char *a, const char *b); /* NULL: only the numbers count */
} steps[SELECTION_STEPS] = {
	[STEP_GPU] = {"gpu", "names ", NULL},
	[STEP_CPU_LEVEL] = {"cpu-level", "is for x86-64-v", NULL},
	[STEP_CUDA_DRIVER] = {"cuda-driver", "has ", NULL},
	[STEP_CUDA] = {"cuda", "has CUDA ", version_compare},
	[STEP_OS_BUILD] = {"os-build", "is of build ", version_compare},
	[STEP_CREATED] = {"created", "is of ", strcmp},
	[STEP_REFERENCE] = {"reference", "is called ", compare_backwards},
};

static void take_keys(struct compat_case *it, const struct catalogue_entry *entry,
		      struct arena *arena, struct selection_key keys[SELECTION_STEPS])
{
	const struct image_platform *platform = &entry->image.platform;
	const char *cuda = case_cuda_toolkit(it);
	unsigned level = platform_level(platform) > 1 ? platform_level(platform) : 1; /* none: v1 */
	bool names = cuda[0] != '\0' && case_has_gpu(it, "nvidia");
	for (const char *const *vendor = catalogue_vendors; *vendor != NULL; vendor++)
		names = names ||
			(wants_vendor(&entry->wants, *vendor) && case_has_gpu(it, *vendor));

	/* 2: the driver runs all of it, 1: with minor-version compatibility, 0: no CUDA. */
	static const char *const ways[] = {"", ", which runs by minor-version compatibility",
					   ", all of which the driver runs"};
	char buffer[NVIDIA_DRIVER_SIZE];
	size_t next = 0;
	const struct host_gpu *gpu = case_gpu(it, "nvidia", &next);
	const struct cuda_release *release = cuda_release_find(cuda);
	unsigned rank = cuda[0] != '\0';
	if (rank > 0 && gpu != NULL && release != NULL) {
		const char *least =
			case_on_windows(it) ? release->windows_driver : release->linux_driver;
		if (least[0] != '\0' &&
		    version_compare(case_nvidia_driver(it, gpu, buffer), least) >= 0)
			rank = 2;
	}

	struct windows_version version = {0};
	bool same_build = case_on_windows(it) &&
			  windows_version_parse(platform->os_version, "", &version, NULL) == 0 &&
			  version.build == it->host->windows.build;
	keys[STEP_GPU] =
		(struct selection_key){names, names ? "the host's GPU" : "no GPU of the host's"};
	keys[STEP_CPU_LEVEL] = (struct selection_key){level, arena_format(arena, "%u", level)};
	keys[STEP_CUDA_DRIVER] = (struct selection_key){
		rank, rank == 0 ? "no CUDA" : arena_format(arena, "CUDA %s%s", cuda, ways[rank])};
	keys[STEP_CUDA] = (struct selection_key){0, cuda};
	keys[STEP_OS_BUILD] = (struct selection_key){same_build, platform->os_version};
	keys[STEP_CREATED] = (struct selection_key){0, entry->created};
	keys[STEP_REFERENCE] = (struct selection_key){0, entry->reference};
}

static int compare_keys(const struct selection_item *a, const struct selection_item *b, size_t i)
{
	const struct selection_key *one = &a->keys[i];
	const struct selection_key *other = &b->keys[i];
	if (one->number != other->number || steps[i].compare == NULL)
		return (one->number < other->number) - (one->number > other->number);
	return steps[i].compare(other->text, one->text);
}

/* The first step at which they differ; SELECTION_STEPS: none. */
static size_t deciding_step(const struct selection_item *a, const struct selection_item *b)
{
	size_t i = 0;
	while (i < SELECTION_STEPS && compare_keys(a, b, i) == 0)
		i++;
	return i;
}

static int compare_items(const void *first, const void *second)
{
	const struct selection_item *a = first;
	const struct selection_item *b = second;
	if (a->verdict != b->verdict)
		return a->verdict < b->verdict ? -1 : 1;
	size_t i = deciding_step(a, b);
	return i < SELECTION_STEPS ? compare_keys(a, b, i)
				   : (a->entry > b->entry) - (a->entry < b->entry);
}

static const char *key_text(const struct selection_item *item, size_t i, struct arena *arena)
{
	const char *text = item->keys[i].text;
	return text[0] != '\0' ? arena_format(arena, "%s%s", steps[i].has, text) : "states none";
}

static void explain(const struct selection_item *first, struct selection_item *item,
		    struct arena *arena)
{
	size_t i = deciding_step(first, item);
	if (item->verdict != first->verdict) {
		item->step = "verdict";
		item->reason = item->finding.reason;
	} else if (i == SELECTION_STEPS) {
		item->step = "place";
		item->reason = "as the first one, which comes earlier in the catalogue";
	} else {
		item->step = steps[i].name;
		item->reason = arena_format(arena, "%s; the first %s", key_text(item, i, arena),
					    key_text(first, i, arena));
	}
}

void selection_make(const struct catalogue *catalogue, const struct host_facts *host,
		    const struct compat_options *options, struct selection *out)
{
	*out = (struct selection){0};
	struct arena *arena = &out->arena;
	out->items = arena_allocate(arena, (catalogue->count + 1) * sizeof(*out->items));
	for (size_t i = 0; i < catalogue->count; i++) {
		const struct catalogue_entry *entry = &catalogue->entries[i];
		struct selection_item *item = &out->items[out->count++];
		struct compat_answer answer CLEANUP_COMPAT_ANSWER = {0};
		struct compat_case it = {.image = &entry->image,
					 .host = host,
					 .options = options,
					 .answer = &answer};
		wants_check(entry, host, options, &answer);
		*item = (struct selection_item){.entry = entry,
						.verdict = compat_answer_verdict(&answer),
						.step = "",
						.reason = ""};
		take_keys(&it, entry, arena, item->keys);

		/* The first finding of the worst verdict, unless it works. */
		for (size_t k = 0; k < answer.count && item->verdict != COMPAT_WORKS; k++) {
			const struct compat_finding *one = &answer.findings[k];
			if (one->verdict != item->verdict)
				continue;
			item->finding = *one;
			item->finding.reason = arena_string(arena, one->reason);
			item->finding.advice = arena_string(arena, one->advice);
			item->finding.source = arena_string(arena, one->source);
			break;
		}
	}
	qsort(out->items, out->count, sizeof(*out->items), compare_items);
	for (size_t i = 1; i < out->count; i++)
		explain(&out->items[0], &out->items[i], arena);
}
