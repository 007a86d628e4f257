package vectorgen

// meterCategories are the cases that GCRA, token bucket and leaky bucket share, because all three are one meter, and
// after them own, the rows by category that one of the three has besides.
func meterCategories(own map[string][]row) []category {
	shared := []category{
		{"basic", meterBasic()},
		{"boundary", meterBoundary()},
		{"carry", meterCarry()},
		{"cost", meterCost()},
		{"overflow", append(meterOverflow(), meterHorizon()...)},
		{"clock", meterClock()},
		{"multikey", meterMultikey()},
		{"maxkeys", append(meterMaxkeys(), meterFill()...)},
		{"peek", meterPeek()},
		{"refund", append(meterRefund(), meterRefundEdges()...)},
		{"sweep", meterSweep()},
		{"relimit", append(meterRelimit(), meterRelimitEdges()...)},
		{"config", append(meterConfig(), meterConfigOrder()...)},
		{"atm", meterATM()},
		{"regression", append(meterRegression(), meterWraps()...)},
	}
	return with(with(with(shared, meterAcross()), meterFaults()), own)
}

// with appends further rows to their categories.
func with(all []category, further map[string][]row) []category {
	for i := range all {
		all[i].rows = append(all[i].rows, further[all[i].name]...)
	}
	return all
}
