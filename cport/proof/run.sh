#!/usr/bin/env bash
# Proves every theorem of theorems.txt, a line each, then runs them on drawn arguments.
#
#   run.sh              prove, then draw; exit 1 if anything fails, 2 if a tool is missing
#   run.sh NAME         prove one
#   run.sh --self-test [NAME]
#                       make each thing of faults.txt wrong in turn: its theorem may not be proved any more, and the
#                       draws must find a counterexample
#   run.sh --wp FILE F  what Frama-C says of function F of FILE, at length
set -uo pipefail
proof=$(cd "$(dirname "$0")" && pwd)
cport=$(dirname "$proof")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

need() {
  local missing=()
  command -v frama-c >/dev/null || missing+=(frama-c-base)
  command -v why3 >/dev/null || missing+=(why3)
  command -v z3 >/dev/null || missing+=(z3)
  command -v cvc4 >/dev/null || missing+=(cvc4)
  command -v "${CC:-cc}" >/dev/null || missing+=(gcc libc6-dev)
  if [ ${#missing[@]} -gt 0 ]; then
    echo "the proof needs: apt-get install ${missing[*]}"
    exit 2
  fi
  export WHY3CONFIG=$work/why3.conf
  why3 config detect >/dev/null 2>&1
}

now() { date +%s%N; }
seconds() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", (b - a) / 1e9 }'; }
rows() { grep -v '^#' "$1" | sed 's/ *| */|/g'; }

# wp ROOT FILE FUNCTIONS TIMEOUT: Frama-C on one file of ROOT/proof; FUNCTIONS by spaces, or @lemma.
wp() {
  local which=(-wp-fct "${3// /,}")
  if [ "$3" = @lemma ]; then which=(-wp-prop @lemma); fi
  local place
  place=$(mktemp -d "$work/wp.XXXXXX")
  (cd "$place" && frama-c -machdep gcc_x86_64 -cpp-extra-args="-I$1/include -I$1/proof" \
    -wp -wp-rte -warn-unsigned-overflow -warn-signed-overflow -warn-signed-downcast -warn-unsigned-downcast \
    "${which[@]}" -wp-prover z3,cvc4 -wp-timeout "$4" -wp-par 2 "$1/proof/$2" 2>&1)
}

# prove ROOT NAME FILE FUNCTIONS TIMEOUT LOG: sets verdict to "proved" or to why not, and goals to how many of how many.
prove() {
  verdict=proved goals=0/0
  wp "$1" "$3" "$4" "$5" >"$6" || verdict="failed (frama-c stopped)"
  goals=$(sed -n 's/^\[wp\] Proved goals: *\([0-9]*\) *\/ *\([0-9]*\).*/\1\/\2/p' "$6")
  if [ -z "$goals" ] || [ "${goals%/*}" = 0 ] || [ "${goals%/*}" != "${goals#*/}" ]; then
    verdict="failed"
  fi
  if [ "$4" != @lemma ]; then
    for f in $4; do # a name that WP passes over proves nothing
      grep -qx "\[rte:annot\] annotating function $f" "$6" || verdict="failed (no $f)"
    done
  fi
  if grep -v 'pedantic-assigns' "$6" | grep -q 'Warning:'; then verdict="failed (a warning)"; fi
  [ "$verdict" = proved ]
}

tools() {
  echo "Frama-C $(frama-c -version | head -n 1), $(z3 --version | awk '{print "Z3 " $3}')," \
    "$(cvc4 --version | awk 'NR == 1 {print "CVC4 " $5}')"
}

# one NAME FILE FUNCTIONS: a line.
one() {
  local start log
  start=$(now)
  log=$(mktemp "$work/log.XXXXXX")
  prove "$cport" "$1" "$2" "$3" "${WEIR_PROOF_TIMEOUT:-30}" "$log"
  printf '%-26s %-8s Frama-C WP  %8s goals  %6s s\n' "$1" "$verdict" "$goals" "$(seconds "$start" "$(now)")"
  if [ "$verdict" != proved ]; then
    grep -E '^\[wp\] \[(Failed|Timeout|Unknown|StepOut)|Warning:|error' "$log" | sed 's/^/    /'
    return 1
  fi
}

# draws ROOT PROGRAM: compiles it.
draws() {
  "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -I"$1/proof" -I"$1/include" "$1"/proof/{draws,theorems,equal,bound}.c \
    "$1/src/weir.c" -o "$2"
}

# beside COMMAND...: runs it in the background, two at once; rest waits for all. They set failed and running.
beside() {
  "$@" &
  running=$((running + 1))
  if [ $running -ge 2 ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
}
rest() {
  while [ $running -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
  done
}

prove_all() {
  local failed=0 running=0
  tools
  while IFS='|' read -r name file functions; do
    if [ -n "${1:-}" ] && [ "$1" != "$name" ]; then continue; fi
    beside one "$name" "$file" "$functions"
    total=$((total + 1))
  done < <(rows "$proof/theorems.txt")
  rest
  return $failed
}

# fault THEOREM FILE SED WORDS: two lines, or a complaint. A goal has 2 s; what refutes a fault is the counterexample.
fault() {
  local root start log found file functions
  start=$(now)
  root=$(mktemp -d "$work/fault.XXXXXX")
  cp -r "$cport/include" "$cport/src" "$cport/proof" "$root"
  sed -i "$3" "$root/$2"
  if cmp -s "$cport/$2" "$root/$2"; then
    echo "$1: the fault '$4' changes nothing in $2"
    return 1
  fi
  IFS='|' read -r _ file functions < <(rows "$proof/theorems.txt" | grep "^$1|")
  log=$(mktemp "$work/log.XXXXXX")
  # The draws are compiled before they are believed: a fault that does not compile is no fault.
  draws "$root" "$root/faulty" 2>"$log" || { cat "$log"; return 1; }
  if found=$("$root/faulty" "$1"); then
    echo "$1: '$4' is not refuted"
    return 1
  fi
  # This theorem rests on the step's contract, so a wrong step shows there.
  if [ "$1 $2" = "admits_burst_and_rate include/weir/gcra.h" ]; then functions=weir_gcra_step; fi
  if prove "$root" "$1" "$file" "$functions" 2 "$log"; then
    echo "$1: '$4' is proved"
    return 1
  fi
  printf '%-26s not proved (%s), refuted: %s  %s s\n    %s\n' \
    "$1" "$goals" "$4" "$(seconds "$start" "$(now)")" "$found"
}

self_test() { # of one theorem, if one is named
  local failed=0 running=0 count=0
  while IFS='~' read -r theorem file script words; do
    if [ -n "${1:-}" ] && [ "$1" != "$theorem" ]; then continue; fi
    beside fault "$theorem" "$file" "$script" "$words"
    count=$((count + 1))
  done < <(grep -v '^#' "$proof/faults.txt" | sed 's/ ~ /~/g')
  rest
  if [ $count = 0 ]; then failed=1; fi
  echo "$count faults, $([ $failed = 0 ] && echo 'each refuted and none proved' || echo 'NOT all refuted')"
  return $failed
}

need
total=0
begin=$(now)
case "${1:-}" in
--self-test) self_test "${2:-}" ;;
--wp) wp "$cport" "$2" "$3" "${WEIR_PROOF_TIMEOUT:-30}" ;;
'' | [a-z]*)
  status=0
  prove_all "${1:-}" || status=1
  if [ "${1:-}" != lemmas ]; then # which are about numbers, not about code
    draws "$cport" "$work/draws" && "$work/draws" ${1:+"$1"} || status=1
  fi
  if [ $total = 0 ]; then echo "no theorem of that name"; status=1; fi
  words=$([ $status = 0 ] && echo 'all proved' || echo 'NOT all proved')
  echo "$total theorems, $words, $(seconds "$begin" "$(now)") s"
  exit $status
  ;;
*) sed -n '2,9p' "$0"; exit 2 ;;
esac
