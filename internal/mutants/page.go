package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"weir/vectors"
)

// shownKillers is how many cases, and categories, mutants.json names at least of those that kill a mutant.
const shownKillers = 2

// Page is mutants.json: every fault of the catalogue, and of those that kill it the cases that were made for it and as
// many more as make two, of two categories if there are. s must be a score of the whole catalogue.
func Page(suite vectors.Suite, s Score) ([]byte, error) {
	madeFor := purposes(suite)
	trials := map[Mutant]Trial{}
	for _, t := range s.Trials {
		trials[t.Mutant] = t
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"format\": %d,\n  \"mutants\": {\n", vectors.Format)
	faults := Catalogue()
	for i, f := range faults {
		fmt.Fprintf(&b, "    %s: {\n      \"wrong\": %s,\n      \"policies\": %s,\n", quoted(f.ID), quoted(f.Wrong),
			quotedList(f.Policies))
		if f.Equivalent != "" {
			fmt.Fprintf(&b, "      \"equivalent\": %s\n    }%s\n", quoted(f.Equivalent), comma(i, len(faults)))
			continue
		}
		b.WriteString("      \"killed_by\": {\n")
		for n, name := range f.Policies {
			t, tried := trials[Mutant{f.ID, name}]
			if !tried || len(t.Killers) == 0 {
				return nil, fmt.Errorf("mutant %s of %s: no case kills it", f.ID, name)
			}
			fmt.Fprintf(&b, "        %s: %s%s\n", quoted(name), quotedList(t.chosen(madeFor)), comma(n, len(f.Policies)))
		}
		fmt.Fprintf(&b, "      }\n    }%s\n", comma(i, len(faults)))
	}
	b.WriteString("  }\n}\n")
	return b.Bytes(), nil
}

// purposes are, by case, the faults that it was made for.
func purposes(suite vectors.Suite) map[string][]string {
	of := map[string][]string{}
	for _, f := range suite.Files {
		for _, c := range f.Cases {
			of[c.ID] = c.Kills
		}
	}
	return of
}

// chosen are the killers that the page names: those made for the mutant, then the first of other categories until there
// are two, then whatever comes.
func (t Trial) chosen(madeFor map[string][]string) []string {
	var ids []string
	categories := map[string]bool{}
	add := func(wanted func(Killer) bool) {
		for _, k := range t.Killers {
			if !slices.Contains(ids, k.Case) && wanted(k) {
				ids, categories[k.Category] = append(ids, k.Case), true
			}
		}
	}
	add(func(k Killer) bool { return slices.Contains(madeFor[k.Case], t.ID) })
	add(func(k Killer) bool { return len(categories) < shownKillers && !categories[k.Category] })
	add(func(Killer) bool { return len(ids) < shownKillers })
	return ids
}

func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func quotedList(all []string) string {
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = quoted(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func comma(i, of int) string {
	if i+1 < of {
		return ","
	}
	return ""
}
