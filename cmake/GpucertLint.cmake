# SPDX-License-Identifier: MIT
# Checks of the source text itself; the target "format", which writes it as the check wants it; and the target
# "analyze", which takes minutes: cppcheck and clang-tidy.

set(lint "${PROJECT_SOURCE_DIR}/cmake/lint")
if(BUILD_TESTING AND WIN32) # what no other build compiles
	add_custom_target(analyze
		COMMAND "${lint}/static_analysis.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "*/windows/*"
		COMMENT "Analysing the C files for Windows" USES_TERMINAL VERBATIM)
elseif(BUILD_TESTING)
	add_test(NAME format COMMAND "${lint}/check_format.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/passed/format")
	add_test(NAME lint_sources COMMAND "${lint}/lint_sources.sh" "${PROJECT_SOURCE_DIR}")
	add_test(NAME lint_can_fail COMMAND "${lint}/test_lint.sh")
	add_test(NAME shellcheck COMMAND "${lint}/check_shell.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/passed/shellcheck")
	add_test(NAME plain_english COMMAND ${NODE} "${lint}/plain_english.mjs" "${PROJECT_SOURCE_DIR}")
	add_test(NAME plain_english_can_fail COMMAND "${lint}/test_plain_english.sh" "${NODE}")
	set_tests_properties(format lint_sources lint_can_fail plain_english plain_english_can_fail shellcheck PROPERTIES
		TIMEOUT 300 LABELS "lint" SKIP_RETURN_CODE 77)
	add_custom_target(format
		COMMAND "${lint}/check_format.sh" "${PROJECT_SOURCE_DIR}" --write
		COMMENT "Formatting the C files" VERBATIM)
	add_custom_target(analyze
		COMMAND "${lint}/static_analysis.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}"
		COMMENT "Analysing the C files" USES_TERMINAL VERBATIM)
	if(TARGET rpc_proto)
		add_dependencies(analyze rpc_proto)
	endif()
	if(GPUCERT_WERROR AND NOT GPUCERT_SANITIZE AND NOT GPUCERT_COVERAGE) # dev: one tree is enough
		add_test(NAME static_analysis
			COMMAND "${lint}/static_analysis.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
		set_tests_properties(static_analysis PROPERTIES
			TIMEOUT 3600 COST 800 LABELS "unsanitized;long" SKIP_RETURN_CODE 77)
	endif()
endif()
