package vectorgen

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/mutants"
	"weir/vectors"
)

// checkKills leaves of a case's kills those that apply to its policy, and tries each: a case that does not kill what it
// was made for is not written.
func checkKills(f vectors.File, done *vectors.Case) error {
	var kept []string
	var faults []error
	for _, id := range done.Kills {
		fault, known := mutants.Find(id)
		switch {
		case !known:
			faults = append(faults, fmt.Errorf("kills: there is no mutant %q", id))
		case fault.Applies(f.Policy):
			kept = append(kept, id)
			faults = append(faults, mutants.Kills(context.Background(), f, *done, id))
		}
	}
	done.Kills = kept
	return errors.Join(faults...)
}
