#!/usr/bin/env bash
# build.sh test|bench: put together in dist/gpu what a machine with a GPU needs
# to run the tests or the benchmarks, with no Go there, and run it here if here is
# a GPU. GPU_TARGET is that machine, GPU_PACKAGES the packages to test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${GO:=go}" "${GPU_TARGET:=linux/amd64}"
: "${GPU_PACKAGES:=internal/cuda internal/cuda/kernels internal/cuda/session internal/engine/codegen internal/gpu/neighbourhood internal/gpu/census internal/engine/stack internal/engine/fine internal/engine/join internal/engine/partition internal/engine internal/matcha/device internal/stream/cached internal/stream/pipeline internal/stream/host}"
what=${1:?test or bench}
export CGO_ENABLED=0 GOOS=${GPU_TARGET%/*} GOARCH=${GPU_TARGET#*/}
flags=(-trimpath -ldflags '-s -w')

mkdir -p dist/gpu
git describe --always --dirty --abbrev=12 >dist/gpu/commit 2>/dev/null || echo unknown >dist/gpu/commit
"$GO" build "${flags[@]}" -o dist/gpu/weft ./cmd/weft
case $what in
test)
	rm -rf dist/gpu/internal
	for p in $GPU_PACKAGES; do
		mkdir -p "dist/gpu/$p"
		"$GO" test -c "${flags[@]}" -o "dist/gpu/$p/package.test" "./$p"
		if [[ -d $p/testdata ]]; then cp -r "$p/testdata" "dist/gpu/$p/"; fi
		echo "built $p"
	done
	cp scripts/gpu/run dist/gpu/run
	program=run
	;;
bench)
	cp scripts/gpu/bench scripts/gpu/watch bench/gpu.tsv dist/gpu/
	mkdir -p dist/gpu/graphs
	cp testdata/graphs/ego-facebook.txt.gz dist/gpu/graphs/
	program=bench
	;;
esac
tar -C dist --owner=0 --group=0 -czf dist/gpu.tar.gz gpu
if [[ -e /dev/nvidiactl || -e /dev/dxg ]]; then
	exec "dist/gpu/$program"
fi
echo "This machine has no GPU. Carry dist/gpu.tar.gz ($(du -h dist/gpu.tar.gz | cut -f1)) to one ($GPU_TARGET, a driver and NVRTC),"
echo "unpack it, run gpu/$program there, and bring the JSON file back that it names at its end."
