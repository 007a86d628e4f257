package vectors

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// MutantsFile is mutants.json: every fault that the suite is proven to catch.
type MutantsFile struct {
	Format  int               `json:"format"`
	Mutants map[string]Mutant `json:"mutants"`
}

// Mutant is one deliberate fault.
type Mutant struct {
	Wrong string `json:"wrong"` // what is deliberately wrong
	// Policies are those that the fault can be made in, "hash" standing for the hashes.
	Policies []string `json:"policies"`
	// Equivalent is the argument why the fault changes no answer, for one that no case can catch.
	Equivalent string `json:"equivalent,omitempty"`
	// KilledBy names for each policy some of the cases that catch the fault: those that were made for it first, and of
	// two categories where more than one can.
	KilledBy map[string][]string `json:"killed_by,omitempty"`
}

// Mutants reads mutants.json of a tree. Any fault in it is a *FileError of one line.
func Mutants(tree fs.FS) (map[string]Mutant, error) {
	l := loader{tree: tree}
	at := place{file: "mutants.json", step: -1}
	raw, err := l.read(at.file)
	if err != nil {
		return nil, err
	}
	r := read(at, raw)
	r.format()
	r.need("mutants")
	if r.err != nil {
		return nil, r.err
	}
	all := read(at, r.fields["mutants"])
	mutants := map[string]Mutant{}
	for _, id := range slices.Sorted(maps.Keys(all.fields)) {
		one := read(place{file: at.file, step: -1, prefix: id + "."}, all.fields[id])
		if mutants[id] = readMutant(one); one.err == nil && !isName(id) {
			one.err = at.fault(id, "", "must be a name: %s", nameRule)
		}
		if one.err != nil {
			return nil, one.err
		}
	}
	return mutants, all.err
}

// readMutant reads one fault: where it applies, and for each policy who catches it or why nobody can.
func readMutant(r *reader) Mutant {
	r.need("wrong", "policies")
	known := append(Policies(), "hash")
	m := Mutant{Wrong: r.text("wrong"), Equivalent: r.text("equivalent")}
	m.Policies = r.texts("policies", func(s string) bool { return contains(known, s) }, "must be some of "+list(known))
	if r.has("equivalent") == r.has("killed_by") {
		r.fail("killed_by", "a mutant is either killed or equivalent")
	}
	if r.err != nil || !r.has("killed_by") {
		return m
	}
	at := r.at
	at.prefix += "killed_by."
	in := read(at, r.fields["killed_by"])
	in.need(m.Policies...)
	m.KilledBy = map[string][]string{}
	for _, policy := range m.Policies {
		ids := in.texts(policy, func(s string) bool { return strings.HasPrefix(s, policy+"/") }, "must be ids of cases of "+policy)
		if in.err == nil && len(ids) == 0 {
			in.fail(policy, "must name at least one case")
		}
		m.KilledBy[policy] = ids
	}
	r.err = in.err
	return m
}
