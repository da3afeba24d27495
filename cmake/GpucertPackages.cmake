# SPDX-License-Identifier: MIT
# The libraries the project builds on; ARCHITECTURE.md says what each is for.

find_package(PkgConfig REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET GLOBAL libuv>=1.44)
pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET GLOBAL libnghttp2>=1.52)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET GLOBAL libprotobuf-c>=1.4)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET GLOBAL libcjson>=1.7.15)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET GLOBAL yaml-0.1>=0.2.5)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET GLOBAL libsodium>=1.0.18)
pkg_check_modules(ARCHIVE REQUIRED IMPORTED_TARGET GLOBAL libarchive>=3.6)
pkg_check_modules(VULKAN_HEADERS REQUIRED vulkan>=1.3.200)
pkg_check_modules(OPENCL_HEADERS REQUIRED OpenCL-Headers)
find_program(PROTOC_C protoc-c REQUIRED)
find_program(GLSLANG_VALIDATOR glslangValidator REQUIRED)
if(BUILD_TESTING)
	pkg_check_modules(CUNIT REQUIRED IMPORTED_TARGET GLOBAL cunit)
endif()
