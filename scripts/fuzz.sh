#!/usr/bin/env bash
# Run every fuzz target for FUZZTIME (default 10s), one after the other; with
# arguments, only those whose name matches one of them. An input that showed new
# behaviour is made smaller in few steps: by default Go spends up to a minute on
# each, which is all of a short run. A package is compiled and linked once for all
# its targets; go test would link it for each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${GO:=go}" "${FUZZTIME:=10s}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
corpus=$("$GO" env GOCACHE)/fuzz

# fuzz BINARY FOLDER PACKAGE TARGET: the exit code of the test, except for one that
# only says that the time was up while an input was being made smaller; a mistake
# found has its input written.
fuzz() {
	local code=0
	(cd "$2" && "$1" -test.run '^$' -test.fuzz "^$4\$" -test.fuzztime "$FUZZTIME" -test.fuzzminimizetime 20x \
		-test.fuzzcachedir "$corpus/$3" -test.paniconexit0) 2>&1 | tee "$tmp/log" || code=$?
	if ((code != 0)) && grep -qx '    context deadline exceeded' "$tmp/log" && ! grep -q 'Failing input written' "$tmp/log"; then
		echo "== the time was up"
		code=0
	fi
	return "$code"
}

found=0
for dir in $(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u); do
	"$GO" test -c -fuzz=. -o "$tmp/fuzz.test" "./$dir"
	package=$("$GO" list "./$dir")
	for target in $("$tmp/fuzz.test" -test.list '^Fuzz'); do
		if (($# > 0)) && ! printf '%s\n' "$@" | grep -qxF -- "$target"; then
			continue
		fi
		found=$((found + 1))
		echo "== $dir $target"
		fuzz "$tmp/fuzz.test" "$dir" "$package" "$target"
	done
done
if ((found == 0)); then
	echo "no fuzz target found" >&2
	exit 1
fi
echo "== $found fuzz targets ran for $FUZZTIME each"
