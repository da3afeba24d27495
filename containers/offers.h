/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What of containers/ this system offers. What it does not offer is not built: callers ask here
 * first, and the compiler drops what stands behind a constant that is false.
 */

#ifdef _WIN32
#define OFFERS_ON_LINUX false
#else
#define OFFERS_ON_LINUX true
#endif

#define OFFERS_PRIVATE_RUNTIME OFFERS_ON_LINUX /* runtime_start(), _import(), _recover() */
#define OFFERS_IMAGES	       OFFERS_ON_LINUX /* composing them: images_prepare() */
#define OFFERS_CONTENTS	       OFFERS_ON_LINUX /* containers/contents/: ELF is read there */
#define OFFERS_INSPECTION      OFFERS_ON_LINUX /* containers/inspect/: there is /proc */
#define OFFERS_WINE_NODE       OFFERS_ON_LINUX /* containers/wine/ */
