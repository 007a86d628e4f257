package vectorgen

func dualCategories() []category {
	return with(with([]category{
		{"basic", dualBasic()},
		{"boundary", dualBoundary()},
		{"carry", dualCarry()},
		{"cost", append(dualCost(), dualTwoCosts()...)},
		{"overflow", dualOverflow()},
		{"clock", dualClock()},
		{"multikey", dualMultikey()},
		{"maxkeys", append(dualMaxkeys(), dualFill()...)},
		{"peek", dualPeek()},
		{"refund", dualRefund()},
		{"sweep", dualSweep()},
		{"relimit", append(dualRelimit(), dualRelimitEdges()...)},
		{"config", append(dualConfig(), dualConfigSecond()...)},
		{"atm", dualATM()},
		{"regression", append(dualRegression(), dualRegressionMore()...)},
	}, dualAcross()), dualFaults())
}

// callsAndBytes is one call per 10 ticks, 5 at once, and 10 bytes a tick, 1000 at once.
var callsAndBytes = limits(1, 10, 5, 10, 1, 1000)

// peakAndMean is one per 10 ticks, 3 at once, and one per 100 ticks, 5 at once.
var peakAndMean = limits(1, 10, 3, 1, 100, 5)
