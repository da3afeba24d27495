/* SPDX-License-Identifier: MIT */
/* Texts that drivers write into /proc and /sys, as arbitrary bytes: the parsed values are bounded and valid. */
#include "base/text.h"
#include "discovery/linux/kfd.h"
#include "discovery/linux/nvidia_text.h"
#include "discovery/linux/virtio.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct nvidia_information information = {.minor = -1};
	struct kfd_node kfd = {0};
	if (text == NULL)
		return 0;
	nvidia_information_parse(text, &information);
	char *version = nvidia_version_find(text);
	struct virtio_offer offer = virtio_offer(-1, text);
	if (information.minor < -1 || information.minor > 255 ||
	    nvidia_capability_minor(text) < -1 ||
	    (information.uuid[0] != '\0' && strlen(information.uuid) != 40) ||
	    !text_is_utf8(information.model, strlen(information.model)))
		abort();
	if (version != NULL && (version[0] == '\0' || strlen(version) > size))
		abort();
	if (offer.vulkan || (kfd_node_parse(text, &kfd) && (kfd.render <= 0 || kfd.gfx <= 0)))
		abort();
	(void)kfd_is_at(&kfd, text);
	free(version);
	free(text);
	return 0;
}
