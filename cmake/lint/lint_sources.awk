# SPDX-License-Identifier: MIT
# The rules of lint_sources.sh over the lines of C files. "borders" is borders.txt.

function report(rule, text) {
	printf "%s:%d: %s: %s\n", FILENAME, FNR, rule, text
	broken = 1
}

# The line without comments and without what stands in quotes.
function code_of(line,    out, c, quote, i) {
	out = ""
	quote = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (in_comment) {
			if (substr(line, i, 2) == "*/") {
				in_comment = 0
				i++
			}
		} else if (quote != "") {
			if (c == "\\")
				i++
			else if (c == quote)
				quote = ""
		} else if (substr(line, i, 2) == "/*") {
			in_comment = 1
			i++
		} else if (substr(line, i, 2) == "//") {
			break
		} else if (c == "\"" || c == "'") {
			quote = c
			out = out " "
		} else {
			out = out c
		}
	}
	return out
}

# Where an include leads to: "base/error.h" of itself and of <gpucert/error.h>.
function target_of_include(path) {
	if (path == "gpucert/error.h")
		return "base/error.h"
	if (path == "gpucert/discovery.h")
		return "discovery/discovery.h"
	return path
}

# The longest folder of the table that the path lies in; "" where the table has none.
function room_of(path) {
	while (sub(/\/[^\/]*$/, "", path)) {
		if (path in uses)
			return path
	}
	return ""
}

function may_use(room, other) {
	return other == room || other == "base" || index(" " uses[room] " ", " " other " ") != 0
}

# "containers/registry/" of "containers/registry/internal.h".
function directory_of(path) {
	sub(/[^\/]*$/, "", path)
	return path
}

function check_include(path, quoted,    other, mine) {
	other = quoted || path ~ /^gpucert\// ? room_of(target_of_include(path)) : ""
	mine = room_of(FILENAME)
	if (mine != "" && other != "" && !is_test && !may_use(mine, other))
		report("L3", mine "/ includes " path ", which borders.txt does not allow")
	if (folder == "workloads" && is_test && other != "" && other != "workloads" && other != "base")
		report("L4", "workloads/ includes " path)
	if (!quoted && folder != "workloads" && path ~ gpu_headers && FILENAME !~ /(^|\/)tests\//)
		report("L6", "the header of a GPU API, " path ", outside of workloads/")
	if (quoted && path ~ /(\/|_)internal[.]h$/ && FILENAME !~ /\/(tests|fuzz)\// && index(FILENAME, directory_of(path)) != 1)
		report("L13", path " is internal to " directory_of(path))
	if (path ~ /(^|\/)doubles\// && FILENAME !~ /(^|\/)(tests|doubles|fuzz)\//)
		report("L7", path " is a test double, and this is no test")
}

BEGIN {
	while ((getline line < borders) > 0) {
		if (line !~ /^use /)
			continue
		room = line
		sub(/^use /, "", room)
		sub(/:.*/, "", room)
		sub(/^[^:]*:[ ]*/, "", line)
		uses[room] = line
	}
	gpu_headers = "^((vulkan|CL|GL|EGL|ffnvcodec|vpl)/|(cuda|d3d[0-9]+|dxgi)[0-9_a-z]*[.]h$)"
	banned = "(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|strtok|system|popen|alloca|assert|localtime|gmtime)"
}

FNR == 1 {
	in_comment = 0
	first_line = 0
	folder = FILENAME
	sub(/\/.*/, "", folder)
	is_test = FILENAME ~ /(^|\/)(tests|doubles|fuzz)\//
}

FNR == 701 {
	report("L8", "more than 700 lines")
}

/^{/ {
	first_line = FNR
}

/^}/ {
	if (first_line != 0 && FNR - first_line + 1 > 60 && FILENAME !~ /\/(tests|doubles|fuzz)\//)
		report("L11", "a function of " FNR - first_line + 1 " lines")
	first_line = 0
}

/(^|[^A-Za-z0-9_])(TODO|FIXME|HACK)([^A-Za-z0-9_]|$)/ {
	report("L9", "something is left to do")
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	path = $0
	quoted = path ~ /include[ \t]*"/
	sub(/^[^<"]*[<"]/, "", path)
	sub(/[>"].*/, "", path)
	check_include(path, quoted)
	next
}

{
	code = code_of($0)
	if (match(code, "(^|[^A-Za-z0-9_])" banned "[ \t]*\\(")) {
		name = substr(code, RSTART, RLENGTH)
		gsub(/[^a-z]/, "", name)
		report("L2", name "() is not used here")
	}
}

END {
	exit broken
}
