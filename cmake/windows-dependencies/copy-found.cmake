# SPDX-License-Identifier: MIT
# cmake -DFROM=folder -DTO=folder -DPATTERNS=globs -P copy-found.cmake: copies the files below FROM that the patterns
# (separated by commas) name.
# What stands in a folder "include" keeps its place below it.
string(REPLACE "," ";" patterns "${PATTERNS}")
foreach(pattern IN LISTS patterns)
	file(GLOB files RELATIVE "${FROM}" "${FROM}/${pattern}" "${FROM}/*/${pattern}")
	if(NOT files)
		message(FATAL_ERROR "${FROM} has no ${pattern}")
	endif()
	foreach(file IN LISTS files)
		set(folder "${TO}")
		if(file MATCHES "^include/(.+)/[^/]*$")
			set(folder "${TO}/${CMAKE_MATCH_1}")
		endif()
		file(COPY "${FROM}/${file}" DESTINATION "${folder}")
	endforeach()
endforeach()
