/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/windows_images.h"

#include "base/cleanup.h"

enum { BUILD_2019 = 17763, BUILD_23H2 = 25398, BUILD_2025 = 26100 };

enum published { PUBLISHED_RUNS, PUBLISHED_REFUSED, PUBLISHED_SILENT };

bool windows_image_rule(struct windows_version host, struct windows_version image)
{
	/* Images of a long-term release run on hosts up to the next one. */
	static const unsigned long_term[] = {WINDOWS_BUILD_2022, BUILD_2025};
	unsigned lowest = WINDOWS_BUILD_2022;
	if (host.major != image.major || host.minor != image.minor)
		return false;
	if (host.build < WINDOWS_BUILD_2022)
		return host.build == image.build;
	for (size_t i = 0; i < ARRAY_SIZE(long_term); i++) {
		if (long_term[i] < host.build)
			lowest = long_term[i];
	}
	return lowest <= image.build && image.build <= host.build;
}

static bool is_client_11(unsigned build)
{
	return build >= WINDOWS_BUILD_11 && build != BUILD_23H2;
}

/* Windows 10 without a server edition: the table has only Hyper-V isolation for it. */
static bool is_client_10(unsigned build)
{
	return build > 19042 && build < WINDOWS_BUILD_2022;
}

static enum published published(unsigned host, unsigned image)
{
	bool runs = false;
	if (is_client_10(host))
		return PUBLISHED_REFUSED;
	switch (image) {
	case WINDOWS_BUILD_2016:
	case BUILD_2019:
		runs = host == image;
		break;
	case WINDOWS_BUILD_2022:
		runs = host == image || host == BUILD_23H2 || is_client_11(host);
		break;
	case BUILD_2025:
		runs = host >= BUILD_2025;
		break;
	default:
		return PUBLISHED_SILENT;
	}
	return runs ? PUBLISHED_RUNS : PUBLISHED_REFUSED;
}

struct windows_image_judgement windows_image_judge(struct windows_version host,
						   struct windows_version image)
{
	const bool rule = windows_image_rule(host, image);
	const enum published table = published(host.build, image.build);
	struct windows_image_judgement out = {.answer = WINDOWS_IMAGE_RUNS};
	if (rule && host.build == WINDOWS_BUILD_2016) {
		out.reason = "Windows Server 2016 runs only images of its own revision";
		if (!host.revision_known || !image.revision_known) {
			out.answer = WINDOWS_IMAGE_UNKNOWN;
			out.reason =
				"Windows Server 2016 runs only images of its own revision, and "
				"not both revisions are given";
		} else if (host.revision != image.revision) {
			out.answer = WINDOWS_IMAGE_REFUSED;
		} else {
			out.reason = "build and revision are equal";
		}
	} else if (rule && table == PUBLISHED_REFUSED) {
		out.answer = WINDOWS_IMAGE_RUNTIME_DEPENDENT;
		out.reason = "container runtimes accept it; Microsoft's table has no process "
			     "isolation for it";
	} else if (rule && host.build == image.build) {
		out.reason = "the builds are equal";
	} else if (rule) {
		out.reason = "the image's build lies between the last long-term release before the "
			     "host and the host";
	} else if (table == PUBLISHED_RUNS && host.major == image.major) {
		out.answer = WINDOWS_IMAGE_RUNTIME_DEPENDENT;
		out.reason =
			"Microsoft's table says that it runs; container runtimes refuse images "
			"older than the last long-term release before the host";
	} else {
		out.answer = WINDOWS_IMAGE_REFUSED;
		out.reason = image.build > host.build ? "the image is newer than the host"
						      : "the image is too old for the host";
	}
	return out;
}

enum windows_image_answer windows_image_hyperv(struct windows_version host,
					       struct windows_version image)
{
	static const unsigned long_term[] = {WINDOWS_BUILD_2016, BUILD_2019, WINDOWS_BUILD_2022,
					     BUILD_2025};
	bool known_host = is_client_10(host.build) || is_client_11(host.build);
	bool known_image = false;
	for (size_t i = 0; i < ARRAY_SIZE(long_term); i++) {
		known_host |= host.build == long_term[i];
		known_image |= image.build == long_term[i];
	}
	if (host.major != image.major || host.minor != image.minor)
		return WINDOWS_IMAGE_REFUSED;
	if (!known_host || !known_image)
		return image.build > host.build ? WINDOWS_IMAGE_REFUSED : WINDOWS_IMAGE_UNKNOWN;
	if (is_client_11(host.build))
		return WINDOWS_IMAGE_RUNS;
	return image.build <= host.build ? WINDOWS_IMAGE_RUNS : WINDOWS_IMAGE_REFUSED;
}

const char *windows_image_answer_name(enum windows_image_answer answer)
{
	static const char *const names[] = {
		[WINDOWS_IMAGE_RUNS] = "runs",
		[WINDOWS_IMAGE_REFUSED] = "refused",
		[WINDOWS_IMAGE_RUNTIME_DEPENDENT] = "runtime-dependent",
		[WINDOWS_IMAGE_UNKNOWN] = "unknown",
	};
	return names[answer];
}
