#!/usr/bin/env bash
# Write the shells' completion scripts into a folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:?the folder to write to}
mkdir -p "$out"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
CGO_ENABLED=0 "${GO:-go}" build -o "$tmp/weft" ./cmd/weft
for shell in bash zsh fish powershell; do
	"$tmp/weft" completion "$shell" >"$out/weft.$shell"
done
