#!/usr/bin/env bash
# Run every fuzz target for FUZZTIME (default 10s), one after the other; with
# arguments, only those whose name matches one of them. An input that showed new
# behaviour is made smaller in few steps: by default Go spends up to a minute on
# each, which is all of a short run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${GO:=go}" "${FUZZTIME:=10s}"

# fuzz: go test's exit code, but for one that only says that the time was up
# while an input was being made smaller; a mistake found has its input written.
fuzz() {
	local log code=0
	log=$(mktemp)
	"$GO" test -run '^$' -fuzz "^$2\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 20x "./$1" 2>&1 | tee "$log" || code=$?
	if ((code != 0)) && grep -qx '    context deadline exceeded' "$log" && ! grep -q 'Failing input written' "$log"; then
		echo "== the time was up"
		code=0
	fi
	rm -f "$log"
	return "$code"
}

found=0
for dir in $(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u); do
	for target in $("$GO" test -list '^Fuzz' "./$dir" | grep '^Fuzz'); do
		if (($# > 0)) && ! printf '%s\n' "$@" | grep -qxF -- "$target"; then
			continue
		fi
		found=$((found + 1))
		echo "== $dir $target"
		fuzz "$dir" "$target"
	done
done
if ((found == 0)); then
	echo "no fuzz target found" >&2
	exit 1
fi
echo "== $found fuzz targets ran for $FUZZTIME each"
