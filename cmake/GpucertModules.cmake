# SPDX-License-Identifier: MIT
# What gpucert is built with besides its core. The core runs the checks and writes the journal and the report; it asks the
# constants GPUCERT_MODULE_NAME (0 or 1) before it calls a module, and links none that is left out.
#
# images        judging images: rules, contents, catalogues, registries (`gpucert image`, predictions)
# certificates  keys, attestations, certification, bundles, publishing
# fleet         the nodes of a cluster: Jobs, verdicts and reports together
# pages         report.html, comparisons and matrices
# wine          `gpucert run --node wine`
# encoders      probes and checks of video encoders
# tools         gen-device-mounts, query-hcs-capabilities, verify-video
set(known images certificates fleet pages wine encoders tools)
set(GPUCERT_MODULES "${known}" CACHE STRING "Modules to build, of: ${known}")
foreach(module IN LISTS GPUCERT_MODULES)
	if(NOT module IN_LIST known)
		message(FATAL_ERROR "GPUCERT_MODULES: there is no module '${module}'; modules are: ${known}")
	endif()
endforeach()
set(offered ${known})
if(WIN32) # the node is of Linux
	list(REMOVE_ITEM GPUCERT_MODULES wine)
	list(REMOVE_ITEM offered wine)
endif()
foreach(module IN ITEMS certificates tools)
	if(module IN_LIST GPUCERT_MODULES AND NOT "images" IN_LIST GPUCERT_MODULES)
		message(FATAL_ERROR "GPUCERT_MODULES: ${module} uses images")
	endif()
endforeach()
foreach(module IN LISTS known)
	string(TOUPPER ${module} name)
	set(GPUCERT_MODULE_${name} 0)
	if(module IN_LIST GPUCERT_MODULES)
		set(GPUCERT_MODULE_${name} 1)
	endif()
	target_compile_definitions(gpucert_flags INTERFACE GPUCERT_MODULE_${name}=${GPUCERT_MODULE_${name}})
endforeach()
if(NOT GPUCERT_MODULES STREQUAL offered AND BUILD_TESTING)
	message(STATUS "Modules are left out: the tests, which need them all, are not built")
	set(BUILD_TESTING OFF)
endif()
