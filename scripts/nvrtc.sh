#!/usr/bin/env bash
# Brings NVIDIA's run-time compiler, as Debian packages it, into a folder: enough
# to compile kernels on a machine without a GPU. Nothing is installed, and the
# machine's own sources of packages stay as they are.
#
#   scripts/nvrtc.sh DIR      afterwards LD_LIBRARY_PATH=DIR finds it
set -euo pipefail
mkdir -p "$1"
dir=$(cd "$1" && pwd)
[[ -e $dir/complete ]] && exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp"/{parts,lists/partial,cache/archives/partial,root}
cat >"$tmp/parts/debian.sources" <<'SOURCES'
Types: deb
URIs: http://deb.debian.org/debian
Suites: trixie
Components: non-free
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
apt=(apt-get -qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$tmp/parts" -o "Dir::State::Lists=$tmp/lists" -o "Dir::Cache=$tmp/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none)
"${apt[@]}" update
cd "$tmp"
"${apt[@]}" download libnvrtc12 libnvrtc-builtins12.4
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cp -P root/usr/lib/*/libnvrtc*.so* "$dir"
touch "$dir/complete"
