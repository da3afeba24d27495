/* SPDX-License-Identifier: MIT */
#include "containers/images/images.h"

#include <stdlib.h>

void image_description_free(struct image_description *description)
{
	free(description->reference);
	free(description->os_version);
	image_manifest_free(&description->manifest);
	*description = (struct image_description){0};
}

void images_free(struct images *images)
{
	image_description_free(&images->probe);
	image_description_free(&images->pause);
	free(images->archive);
	*images = (struct images){0};
}
