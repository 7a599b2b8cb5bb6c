# shellcheck shell=bash disable=SC2154 # $results is its reader's
# SPDX-License-Identifier: MIT
# Read by the scripts of this folder: steps that are timed and counted in the file $results.

# step NAME COMMAND...: counts as one, or as many as its last line says, or the line before, as make adds
# one of its own when a command fails.  Exit status 77 is a skip, whose reason the command has printed.
# Returns the command's status.  What the command leaves running is not waited for.
step() {
	local name=$1 start=$SECONDS status=0 log
	shift
	log=$(mktemp)
	printf '\n==== %s\n' "$name"
	"$@" </dev/null >"$log" 2>&1 &
	tail -n +1 -s 0.2 -f --pid=$! "$log"
	wait $! || status=$?
	printf '%d\t%s\t%s\n' $((SECONDS - start)) "$(counts "$status" "$log")" "$name" >>"$results"
	remarks "$name" "$log" >>"$results.remarks"
	rm -f "$log"
	return "$status"
}

# counts STATUS LOG: passed, failed, skipped; a command that fails has at least one failure.
counts() {
	tail -n 2 "$2" | awk -v status="$1" -v OFS='\t' '
		/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { found = 1; passed = $1; failed = $3; skipped = $5 }
		END {
			if (!found)
				passed = status == 0
			if (!found && status == 77)
				skipped = 1
			else if (status != 0 && failed == 0)
				failed = 1
			print passed + 0, failed + 0, skipped + 0
		}'
}

# remarks NAME LOG: the lists of what failed or was unsteady, so that they can be repeated at the very end.
remarks() {
	awk -v name="$1" '
		/^(failed|unsteady):$/ { print name ": " $0; listing = 1; next }
		!/^  / { listing = 0 }
		listing' "$2"
}

# Prints what each step took and found, and the sum; fails if a step did.
summary() {
	awk -F '\t' -v remarks="$results.remarks" '
		BEGIN { printf "\n%8s %8s %8s %8s\n", "seconds", "passed", "failed", "skipped" }
		{ printf "%8d %8d %8d %8d  %s\n", $1, $2, $3, $4, $5 }
		{ seconds += $1; passed += $2; failed += $3; skipped += $4 }
		END {
			printf "%8d %8d %8d %8d\n\n", seconds, passed, failed, skipped
			while ((getline remark < remarks) > 0) {
				print remark
				is_remarked = 1
			}
			if (is_remarked)
				print ""
			printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
			exit failed > 0 || passed == 0
		}' "$results"
}
