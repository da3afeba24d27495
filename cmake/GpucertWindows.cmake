# SPDX-License-Identifier: MIT
# What Windows wants inside its programs and libraries: a version resource, and in programs a manifest.

# gpucert_windows_resource(TARGET DESCRIPTION): embeds them. Does nothing elsewhere.
function(gpucert_windows_resource name description)
	if(NOT WIN32)
		return()
	endif()
	set(windows "${PROJECT_SOURCE_DIR}/cmake/windows")
	get_target_property(type ${name} TYPE)
	if(type STREQUAL "EXECUTABLE")
		set(file_type VFT_APP)
		set(file_name "${name}.exe")
		set(manifest "1 24 \"${windows}/program.manifest\"")
	else()
		set(file_type VFT_DLL)
		set(file_name "${name}.dll")
		set(manifest "")
	endif()
	string(REPLACE "." "," version_commas "${PROJECT_VERSION}.0")
	file(STRINGS "${PROJECT_SOURCE_DIR}/LICENSE" copyright REGEX "^Copyright" LIMIT_COUNT 1)
	set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.rc")
	set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.res.o")
	configure_file("${windows}/version.rc.in" "${source}" @ONLY)
	add_custom_command(OUTPUT "${object}"
		COMMAND ${CMAKE_RC_COMPILER} --codepage 65001 --output-format coff "${source}" "${object}"
		DEPENDS "${source}" "${windows}/program.manifest" VERBATIM)
	set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
	target_sources(${name} PRIVATE "${object}")
endfunction()
