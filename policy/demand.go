package policy

// Demand is a request in a limit's units: when it comes, what it costs, and the largest debt that leaves room for it. Now and
// Price are below 2^62.
type Demand struct{ Now, Price, Spare uint64 }

// Demand weighs a request of cost permits at tick now before anything is known of its key: what is left is a subtraction and
// a comparison. ok is false for a request that no key's state decides: past the horizon, too costly, or for nothing.
func (s *Scale) Demand(now, cost uint64) (d Demand, ok bool) {
	if now > s.Horizon || cost-1 >= s.Burst {
		return d, false
	}
	price := cost * s.Permit
	return Demand{now * s.Tick, price, s.Tolerance - price}, true
}

// Debt is how far a theoretical arrival time, in units below 2^63, runs ahead of now: 0 for an idle key. Without this
// floor, idle time would become credit.
func (d Demand) Debt(tat uint64) uint64 { return max(tat, d.Now) - d.Now }

// Conforms says whether the request fits beside a debt. A tie conforms.
func (d Demand) Conforms(debt uint64) bool { return debt <= d.Spare }

// After is the theoretical arrival time once the request has been allowed. It stays below 2^63: it is at most the tolerance,
// below 2^62, ahead of now.
func (d Demand) After(debt uint64) uint64 { return d.Now + debt + d.Price }

// Allowed is the decision that lets the request through.
func (d Demand) Allowed(s *Scale, debt uint64) Decision { return Metered(s, Allow, debt+d.Price, 0) }

// Denied is the decision that does not.
func (d Demand) Denied(s *Scale, debt uint64) Decision { return Metered(s, Deny, debt, debt-d.Spare) }
