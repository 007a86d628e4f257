# Adds up what several programs have covered of the same files: reads gcov files made by "gcov -b -c", one set for each
# program, and prints lines and branches of every file of src and include that was met, what is missed, and the sum. A
# line counts as covered if any program ran it, a branch if any took it. Without optimization the branches of a line are
# the same in every program. WANT_LINES and WANT_BRANCHES are the least per cent; below that the status is 1.

function short(name) {
	return match(name, /(src|include\/weir)\/[a-z_0-9]+\.[ch]$/) ? substr(name, RSTART) : ""
}

FNR == 1 { file = "" }

/^ *-: *0:Source:/ {
	file = short(substr($0, index($0, "Source:") + 7))
	next
}

file == "" { next }

# "  count:  line:text"; the count is "-" for no code and "#####" or "=====" for code that never ran.
/^ *[-0-9#=*]+\*?: *[0-9]+:/ {
	split($0, part, ":")
	gsub(/[ *]/, "", part[1])
	line = part[2] + 0
	branch = 0
	if (part[1] == "-" || line == 0) next
	at = file SUBSEP line
	if (!(at in hits)) hits[at] = 0
	if (part[1] ~ /^[0-9]/) hits[at] = 1
	next
}

/^branch +[0-9]+/ {
	at = file SUBSEP line SUBSEP branch++
	if (!(at in taken)) taken[at] = 0
	if ($3 == "taken" && $4 + 0 > 0) taken[at] = 1
}

function percent(part, whole) {
	return whole == 0 ? 100 : 100 * part / whole
}

END {
	for (at in hits) {
		split(at, part, SUBSEP)
		lines[part[1]]++
		if (part[2] > last[part[1]]) last[part[1]] = part[2] + 0
		if (hits[at]) ran[part[1]]++
	}
	for (at in taken) {
		split(at, part, SUBSEP)
		branches[part[1]]++
		if (taken[at]) took[part[1]]++
		else half[part[1], part[2]] = 1
	}
	for (file in lines) {
		printf "%-28s lines %6.2f%% of %4d   branches %6.2f%% of %4d\n", file, percent(ran[file], lines[file]), lines[file],
			percent(took[file], branches[file]), branches[file] | "sort"
		all_lines += lines[file]; all_ran += ran[file]
		all_branches += branches[file]; all_took += took[file]
	}
	close("sort")
	for (file in lines) {
		missed = ""
		for (line = 1; line <= last[file]; line++) {
			if ((file, line) in half) missed = missed " " line "?"
			else if ((file, line) in hits && !hits[file, line]) missed = missed " " line
		}
		if (missed != "") print "missed in " file " (? is a branch):" missed | "sort"
	}
	close("sort")
	printf "%-28s lines %6.2f%% of %4d   branches %6.2f%% of %4d\n", "all", percent(all_ran, all_lines), all_lines,
		percent(all_took, all_branches), all_branches
	low = percent(all_ran, all_lines) < WANT_LINES || percent(all_took, all_branches) < WANT_BRANCHES
	if (low) print "below the " WANT_LINES "% of lines and " WANT_BRANCHES "% of branches that are wanted"
	exit low || all_lines == 0
}
