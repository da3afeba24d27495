/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The parts that this build offers. Others are not built: callers check these constants first, and the
 * compiler drops calls under a false one.
 */

#ifdef _WIN32
#define OFFERS_ON_LINUX false
#else
#define OFFERS_ON_LINUX true
#endif

#define OFFERS_PRIVATE_RUNTIME OFFERS_ON_LINUX /* runtime_start(), _import(), _recover() */
#define OFFERS_IMAGES	       OFFERS_ON_LINUX /* composing them: images_prepare() */
#define OFFERS_CONTENTS	       OFFERS_ON_LINUX /* containers/judging/contents/: ELF is read there */
#define OFFERS_INSPECTION      OFFERS_ON_LINUX /* containers/inspect/: there is /proc */

/* Modules that a build may leave out (cmake/GpucertModules.cmake). */
#define OFFERS_WINE_NODE (GPUCERT_MODULE_WINE != 0) /* containers/wine/ */
#define OFFERS_PREDICTIONS                                                                         \
	(GPUCERT_MODULE_IMAGES != 0) /* containers/judging/compat/, contents/, registry/ */
#define OFFERS_ENCODERS (GPUCERT_MODULE_ENCODERS != 0) /* workloads/video/ */
