# SPDX-License-Identifier: MIT
# Turns the text file SOURCE into the C header HEADER with one NUL-ended array NAME.
file(READ "${SOURCE}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n\t" bytes "${bytes}")
file(WRITE "${HEADER}" "/* Generated. */\nstatic const char ${NAME}[] = {\n\t${bytes}0x00,\n};\n")
