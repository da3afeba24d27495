#!/bin/sh
# SPDX-License-Identifier: MIT
# A double of aws, az, eksctl, gcloud and kubectl, by the name under which it is started, and a recorder in front of the real gpucert. It
# appends a line with its words to $RECORD, fails where the line contains $FAIL_AT, and answers with the files of $ANSWERS.
name=$(basename "$0")
line="ran $name$(for word; do printf ' [%s]' "$word"; done | tr '\n' '~')"
printf '%s\n' "$line" >>"$RECORD"

case $line in
*"${FAIL_AT:-nothing fails}"*) exit 7 ;;
"ran gpucert "*) exec "$REAL_GPUCERT" "$@" ;;
*"[get] [nodes]"*) cat "$ANSWERS/nodes.json" ;;
*"[get] [pods]"*"[json]") cat "$ANSWERS/pods.json" ;;
*"[get] [pods]"*"[name]") printf 'pod/reader-1\npod/reader-2\n' ;;
*"[exec] [pod/reader-1]"*) tar -C "$ANSWERS/reader-1" -cf - . ;;
*"[exec] [pod/reader-2]"*) tar -C "$ANSWERS/reader-2" -cf - . ;;
esac
