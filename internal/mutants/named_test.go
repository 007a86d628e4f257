package mutants_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"weir/internal/mutants"
)

// named are the faults that the plan of the suite names, word by word, and the mutants that are them.
var named = []struct {
	fault string
	ids   []string
}{
	{"burst + 1", []string{"burst-plus-one"}},
	{"burst - 1", []string{"burst-minus-one"}},
	{"no max(TAT, now)", []string{"no-max-of-schedule-and-now"}},
	{"< for <=", []string{"less-for-at-most"}},
	{"state moved on denial", []string{"state-moved-on-denial"}},
	{"retry_after to the TAT instead of TAT - L", []string{"retry-to-the-schedule"}},
	{"retry_after rounded down", []string{"retry-rounded-down"}},
	{"remaining rounded up", []string{"remaining-rounded-up"}},
	{"interval truncated to whole ticks", []string{"interval-truncated"}},
	{"interval in float64", []string{"interval-in-float64"}},
	{"cost > burst not checked", []string{"cost-above-burst-not-checked"}},
	{"cost = burst refused", []string{"cost-of-burst-refused"}},
	{"cost treated as 1", []string{"cost-treated-as-1"}},
	{"product wraps", []string{"product-wraps", "refund-product-wraps", "relimit-product-wraps", "tolerance-wraps"}},
	{"reset_after minus tolerance", []string{"reset-minus-tolerance"}},
	{"fraction lost at refill", []string{"fraction-lost-at-refill"}},
	{"last-refill moved although nothing was refilled", []string{"last-moved-though-nothing-refilled"}},
	{"not moved while full", []string{"last-not-moved-while-full"}},
	{"no cap", []string{"no-cap"}},
	{"starts empty", []string{"starts-empty"}},
	{"backward time drains for good", []string{"backward-time-drains-for-good"}},
	{"backward time mints", []string{"backward-time-mints", "elapsed-unsigned"}},
	{"elapsed product wraps", []string{"elapsed-product-wraps"}},
	{"retry ignores the partial permit", []string{"retry-ignores-the-partial-permit"}},
	{"carry kept at full", []string{"carry-kept-at-full"}},
	{"float tokens", []string{"float-tokens"}},
	{"32-bit time", []string{"time-in-32-bits"}},
	{"> for >=", []string{"more-for-at-least"}},
	{"level below zero", []string{"level-below-zero"}},
	{"leak rounded up", []string{"leak-rounded-up"}},
	{"denied request fills", []string{"denied-request-fills"}},
	{"delay measured after the pour", []string{"delay-after-the-pour"}},
	{"delay rounded down", []string{"delay-rounded-down"}},
	{"window end inclusive", []string{"window-end-inclusive"}},
	{"denied requests logged", []string{"denied-requests-logged"}},
	{"cost logged as 1", []string{"cost-logged-as-1"}},
	{"one expired entry dropped per call", []string{"one-expired-entry-dropped"}},
	{"retry from the oldest entry though cost needs two", []string{"retry-from-the-oldest-entry"}},
	{"newest-entry retry", []string{"retry-from-the-newest-entry"}},
	{"fixed window", []string{"fixed-window"}},
	{"equal ticks deduplicated", []string{"equal-ticks-deduplicated"}},
	{"refund takes the oldest", []string{"refund-takes-the-oldest"}},
	{"refund empties more than it may", []string{"refund-empties-more-than-it-may"}},
	{"refund of an idle key", []string{"refund-of-an-idle-key"}},
	{"log runs backwards", []string{"log-runs-backwards"}},
	{"first charged although the second denies", []string{"first-charged-though-the-second-denies"}},
	{"second charged although the first denies", []string{"second-charged-though-the-first-denies"}},
	{"retry = min of two", []string{"retry-the-shorter-of-two"}},
	{"remaining = max of two", []string{"remaining-the-larger-of-two"}},
	{"OR for AND", []string{"or-for-and"}},
	{"limits swapped", []string{"limits-swapped"}},
	{"cost2 ignored", []string{"cost2-ignored"}},
	{"binding always first", []string{"binding-always-first"}},
	{"max_keys + 1", []string{"max-keys-plus-one"}},
	{"max_keys - 1", []string{"max-keys-minus-one"}},
	{"evicts a live key", []string{"evicts-a-live-key"}},
	{"one state for all keys", []string{"one-state-for-all-keys"}},
	{"key truncated to 32 bits", []string{"key-in-32-bits"}},
	{"key 0 lost", []string{"key-0-lost"}},
	{"peek consumes", []string{"peek-consumes"}},
	{"peek creates a key", []string{"peek-makes-a-key"}},
	{"a too costly request creates a key", []string{"too-costly-makes-a-key"}},
	{"sweep drops live keys", []string{"sweep-drops-live-keys"}},
	{"sweep frees nothing", []string{"sweep-frees-nothing"}},
	{"forget is a no-op", []string{"forget-is-a-no-op"}},
	{"refund not clamped", []string{"refund-not-clamped"}},
	{"remaining 0 on denial", []string{"remaining-0-on-denial"}},
	{"parameters not validated", []string{"parameters-not-validated"}},
	{"horizon wraps", []string{"horizon-wraps"}},
	{"past the horizon time stands still", []string{"time-stands-still-past-the-horizon"}},
	{"bounded table reclaims by itself", []string{"bounded-table-reclaims-by-itself"}},
	{"full answered with retry 0", []string{"full-answered-with-retry-0"}},
	{"cost 0 denied in debt", []string{"zero-cost-denied-in-debt"}},
	{"zero share charges", []string{"zero-share-charges"}},
}

func TestEveryNamedFaultIsThere(t *testing.T) {
	assert.Greater(t, len(named), 70)
	for _, row := range named {
		for _, id := range row.ids {
			_, ok := mutants.Find(id)
			assert.True(t, ok, "%s: %s", row.fault, id)
		}
	}
}
