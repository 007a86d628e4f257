package vectorgen

func logCategories() []category {
	return with(with([]category{
		{"basic", logBasic()},
		{"boundary", logBoundary()},
		{"carry", logCarry()},
		{"cost", logCost()},
		{"overflow", logOverflow()},
		{"clock", logClock()},
		{"multikey", logMultikey()},
		{"maxkeys", append(logMaxkeys(), logFill()...)},
		{"peek", logPeek()},
		{"refund", append(logRefund(), logRefundEdges()...)},
		{"sweep", logSweep()},
		{"relimit", append(logRelimit(), logRelimitEdges()...)},
		{"config", logConfig()},
		{"atm", logATM()},
		{"regression", logRegression()},
	}, logAcross()), logFaults())
}
