# SPDX-License-Identifier: MIT
# Builds libsodium in portable C, as its own project files for Windows do; the source package has no configure script.
cmake_minimum_required(VERSION 3.25)
project(libsodium LANGUAGES C)
file(GLOB_RECURSE sources "${CMAKE_CURRENT_SOURCE_DIR}/src/libsodium/*.c")
file(COPY builds/msvc/version.h DESTINATION src/libsodium/include/sodium)
add_library(sodium STATIC ${sources})
target_compile_definitions(sodium PRIVATE CONFIGURED=1 SODIUM_STATIC=1 NATIVE_LITTLE_ENDIAN=1)
target_include_directories(sodium PRIVATE
	src/libsodium/include src/libsodium/include/sodium "${CMAKE_CURRENT_BINARY_DIR}/src/libsodium/include"
	"${CMAKE_CURRENT_BINARY_DIR}/src/libsodium/include/sodium")
install(TARGETS sodium ARCHIVE DESTINATION lib)
install(FILES src/libsodium/include/sodium.h DESTINATION include)
install(DIRECTORY src/libsodium/include/sodium "${CMAKE_CURRENT_BINARY_DIR}/src/libsodium/include/sodium"
	DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN private EXCLUDE)
