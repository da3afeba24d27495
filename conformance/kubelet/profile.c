/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/kubelet/kubelet.h"

#include <string.h>

static const char *const profile_names[] = {
	[KUBELET_PROFILE_1_36] = "1.36",
	[KUBELET_PROFILE_1_37] = "1.37",
};

int kubelet_profile_parse(const char *name, enum kubelet_profile *out, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(profile_names); i++) {
		if (strcmp(name, profile_names[i]) == 0) {
			*out = (enum kubelet_profile)i;
			return 0;
		}
	}
	return error_set(err, ERROR_ARGUMENT, "no profile \"%s\"; there are 1.36 and 1.37", name);
}

const char *kubelet_profile_name(enum kubelet_profile profile)
{
	return profile_names[profile];
}
