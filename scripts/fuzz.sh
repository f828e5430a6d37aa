#!/usr/bin/env bash
# Run every fuzz target for FUZZTIME (default 10s), one after the other; with
# arguments, only those whose name matches one of them. An input that showed new
# behaviour is made smaller in few steps: by default Go spends up to a minute on
# each, which is all of a short run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${GO:=go}" "${FUZZTIME:=10s}"

found=0
for dir in $(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u); do
	for target in $("$GO" test -list '^Fuzz' "./$dir" | grep '^Fuzz'); do
		if (($# > 0)) && ! printf '%s\n' "$@" | grep -qxF -- "$target"; then
			continue
		fi
		found=$((found + 1))
		echo "== $dir $target"
		"$GO" test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 20x "./$dir"
	done
done
if ((found == 0)); then
	echo "no fuzz target found" >&2
	exit 1
fi
echo "== $found fuzz targets ran for $FUZZTIME each"
