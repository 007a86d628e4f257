package mutants

import "slices"

// Fault is one thing that is wrong on purpose, in every policy that it can be made in.
type Fault struct {
	ID    string
	Wrong string // what is deliberately wrong, in one line
	// Policies are those that the fault applies to, "hash" standing for the hashes.
	Policies []string
	// Equivalent is the argument why the fault changes no answer; "" for a fault that must be found.
	Equivalent string
}

// The policies that a fault may apply to.
var (
	all     = []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"}
	meters  = []string{"gcra", "tokenbucket", "leakybucket", "dualbucket"} // all that count in debt
	flowing = []string{"tokenbucket", "leakybucket"}                       // those that store when a number was right
	tats    = []string{"gcra", "dualbucket"}                               // those that store a schedule
	tokens  = []string{"tokenbucket"}
	leaking = []string{"leakybucket"}
	logs    = []string{"slidinglog"}
	duals   = []string{"dualbucket"}
	hashes  = []string{"hash"}
)

// Catalogue is every fault there is, in the order in which they are presented.
func Catalogue() []Fault {
	return slices.Concat(limitFaults, requestFaults, answerFaults, meterFaults, formFaults, logFaults, dualFaults, tableFaults,
		changeFaults, hashFaults)
}

// Find is the fault of that id.
func Find(id string) (Fault, bool) {
	for _, f := range Catalogue() {
		if f.ID == id {
			return f, true
		}
	}
	return Fault{}, false
}

// Applies says whether the fault can be made in a policy.
func (f Fault) Applies(policy string) bool { return slices.Contains(f.Policies, policy) }
