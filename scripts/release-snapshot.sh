#!/usr/bin/env bash
# Build what .goreleaser.yaml describes, without publishing: archives of
# binaries with licences, README and shell completions, and their checksums.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${GO:=go}" "${VERSION:=snapshot}" "${LDFLAGS:=-s -w}"
: "${TARGETS:=linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}"

"$GO" run ./internal/tools/notices -check
rm -rf dist
mkdir -p dist
scripts/completions.sh dist/completions
# archive OS ARCH SUFFIX TAGS
archive() {
	local os=$1 arch=$2
	local name="weft_${VERSION}_${os}_${arch}$3" binary=weft
	if [[ $os == windows ]]; then binary=weft.exe; fi
	mkdir "dist/$name"
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch "$GO" build -trimpath -tags "$4" -ldflags "$LDFLAGS" -o "dist/$name/$binary" ./cmd/weft
	cp -r LICENSE THIRD_PARTY_NOTICES README.md dist/completions "dist/$name/"
	# Windows opens neither tar nor gz without further programs; python3 writes
	# zip where zip is missing.
	if [[ $os == windows ]] && command -v zip >/dev/null; then
		(cd dist && zip -qr "$name.zip" "$name")
	elif [[ $os == windows ]] && command -v python3 >/dev/null; then
		(cd dist && python3 -m zipfile -c "$name.zip" "$name")
	else
		tar -C dist --owner=0 --group=0 -czf "dist/$name.tar.gz" "$name"
	fi
	rm -r "dist/$name"
	echo "dist/$name"
}

for target in $TARGETS; do
	archive "${target%/*}" "${target#*/}" "" ""
	# Beside the program that opens GPU libraries through the C library's loader, one that
	# is linked to no library.
	if [[ $target == linux/* ]]; then archive linux "${target#*/}" _static nogpu; fi
done
(cd dist && find . -maxdepth 1 -name 'weft_*' -type f | sort | xargs sha256sum | sed 's, \./, ,' >checksums.txt)
cat dist/checksums.txt
