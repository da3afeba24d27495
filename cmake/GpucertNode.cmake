# SPDX-License-Identifier: MIT
# Tests that need Node.js: npm projects with locked dependencies, and JSON Schema validation. None of them runs Windows
# programs.

if(BUILD_TESTING AND NOT WIN32)
	find_program(NODE NAMES node nodejs REQUIRED)
	find_program(NPM NAMES npm REQUIRED)
endif()

# gpucert_npm_project(NAME FILES files... [UNPACK archive]): package.json and package-lock.json of the current source folder,
# and FILES (paths below it), copied to ${CMAKE_BINARY_DIR}/npm/NAME. The test npm_NAME installs the locked
# dependencies there, once per lock file; tests that need them say FIXTURES_REQUIRED npm_NAME. UNPACK: an archive in a package
# of programs, which is unpacked there, too; where no registry answers, npm_NAME is skipped, and the tests see that it is missing.
function(gpucert_npm_project name)
	if(NOT BUILD_TESTING OR WIN32)
		return()
	endif()
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "UNPACK" "FILES")
	set(project "${CMAKE_BINARY_DIR}/npm/${name}")
	foreach(file IN ITEMS package.json package-lock.json LISTS arg_FILES)
		configure_file("${file}" "${project}/${file}" COPYONLY)
	endforeach()
	add_test(NAME npm_${name}
		COMMAND ${CMAKE_COMMAND} -DNPM=${NPM} -DPROJECT=${project} -DUNPACK=${arg_UNPACK}
			-P "${PROJECT_SOURCE_DIR}/cmake/npm-install.cmake")
	set_tests_properties(npm_${name} PROPERTIES
		FIXTURES_SETUP npm_${name} TIMEOUT 600 LABELS "npm" SKIP_REGULAR_EXPRESSION "skipped: npm: ")
endfunction()

# gpucert_schema_test(NAME SCHEMA file [FILES files...] [COMMAND program args...]): every file is valid by
# the JSON Schema (2020-12); a file named *.ndjson line by line, a torn last line left out. With COMMAND,
# what the program prints is one valid document and its exit code is 0. References between schemas are
# resolved within the folder of SCHEMA.
function(gpucert_schema_test name)
	if(NOT BUILD_TESTING OR WIN32)
		return()
	endif()
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCHEMA" "FILES;COMMAND")
	if(arg_COMMAND)
		list(PREPEND arg_COMMAND --run)
	endif()
	add_test(NAME ${name}
		COMMAND ${NODE} "${CMAKE_BINARY_DIR}/npm/schema/validate.mjs" ${arg_SCHEMA} ${arg_FILES} ${arg_COMMAND}
		WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
	set_tests_properties(${name} PROPERTIES
		FIXTURES_REQUIRED npm_schema TIMEOUT 300 LABELS "schema")
endfunction()
