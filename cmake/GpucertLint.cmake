# SPDX-License-Identifier: MIT
# Checks of the source text itself, and the target "format", which writes it as the check wants it.

if(BUILD_TESTING)
	set(lint "${PROJECT_SOURCE_DIR}/cmake/lint")
	add_test(NAME format COMMAND "${lint}/check_format.sh" "${PROJECT_SOURCE_DIR}")
	add_test(NAME lint_sources COMMAND "${lint}/lint_sources.sh" "${PROJECT_SOURCE_DIR}")
	add_test(NAME lint_can_fail COMMAND "${lint}/test_lint.sh")
	set_tests_properties(format lint_sources lint_can_fail PROPERTIES
		TIMEOUT 60 LABELS "lint" SKIP_RETURN_CODE 77)
	add_custom_target(format
		COMMAND "${lint}/check_format.sh" "${PROJECT_SOURCE_DIR}" --write
		COMMENT "Formatting the C files" VERBATIM)
endif()
