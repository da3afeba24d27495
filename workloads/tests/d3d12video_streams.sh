#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: d3d12video_streams.sh FOLDER BUILD
# What verify-video says of the streams that test_d3d12video left in FOLDER, one document for each setting of its double. verify-video is no
# Windows program: it is that of another build beside BUILD. Exit code 77: there is none.
set -eu

folder=$1
for build in "$2"/../dev "$2"/../asan "$2"/../release; do
	verify=$build/libexec/gpucert/verify-video
	[ ! -x "$verify" ] || break
done
if [ ! -x "$verify" ]; then
	echo "verify-video is not built (presets dev, asan, release)" >&2
	exit 77
fi
stream=$(mktemp)
trap 'rm -f "$stream"' EXIT

failed=0
while IFS='|' read -r setting wanted; do
	sed -n 's/.*"stream":"\([^"]*\)".*/\1/p' "$folder/$setting.json" | base64 -d >"$stream"
	case $setting in
	codec=1*) codec=hevc ;;
	codec=2*) codec=av1 ;;
	*) codec=h264 ;;
	esac
	judgement=$("$verify" --codec $codec --seed 7 --width 64 --height 64 "$stream") || true
	case $judgement in
	*"$wanted"*) echo "$setting: $wanted" ;;
	*)
		echo "FAILED: $setting: wanted $wanted, verify-video says: $judgement" >&2
		failed=1
		;;
	esac
done <<'ROWS'
plain|"status":"ok"
cqp|"status":"ok"
texture-array|"status":"ok"
high|"status":"ok"
parts|"status":"ok"
level=1|"status":"ok"
new-codec|"status":"ok"
repeat=4|frame 4 shows frame 3
black=4|"reason":"frame 4 
corrupt=5|"status":"undecodable"
other=99|"reason":"frame 0 
codec=1|"status":"ok"
codec=1,cqp|"status":"ok"
codec=1,texture-array|"status":"ok"
codec=1,parts|"status":"ok"
codec=1,small-trees|"status":"ok"
codec=1,large-blocks|"status":"ok"
codec=1,shallow,plain-tools|"status":"ok"
codec=1,low-delay|"status":"ok"
codec=1,region=128|"status":"ok"
codec=1,level=12,high-tier|"status":"ok"
codec=1,repeat=4|frame 4 shows frame 3
codec=1,black=4|"reason":"frame 4 
codec=1,corrupt=5|"status":"undecodable"
codec=1,other=99|"reason":"frame 0 
codec=2|"psnr":[99,99,99,99,99,99,99,99,99,99,99,99]
codec=2,cqp|"psnr":[99,99,99,99,99,99,99,99,99,99,99,99]
codec=2,texture-array|"status":"ok"
codec=2,parts|"status":"ok"
codec=2,order|"status":"ok"
codec=2,largest|"status":"ok"
codec=2,old-question|"status":"ok"
codec=2,fresh|"status":"ok"
codec=2,remap|"status":"ok"
codec=2,features=0|"status":"ok"
codec=2,features=67108863,order|"status":"ok"
codec=2,level=23,high-tier|"status":"ok"
codec=2,repeat=4|frame 4 shows frame 3
codec=2,black=4|"reason":"frame 4 
codec=2,corrupt=5|"reason":"frame 5 
codec=2,other=99|"reason":"frame 0 
ROWS
exit $failed
