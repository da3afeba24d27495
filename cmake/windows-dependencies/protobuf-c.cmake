# SPDX-License-Identifier: MIT
# Builds protobuf-c's runtime library; the generator is the host's.
cmake_minimum_required(VERSION 3.25)
project(protobuf-c LANGUAGES C)
add_library(protobuf-c STATIC protobuf-c/protobuf-c.c)
install(TARGETS protobuf-c ARCHIVE DESTINATION lib)
install(FILES protobuf-c/protobuf-c.h DESTINATION include/protobuf-c)
