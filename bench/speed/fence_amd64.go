package speed

// fence lets no later instruction begin before all earlier ones are done: LFENCE, which serialises dispatch on Intel's
// processors, and on AMD's as Linux sets them up.
//
//go:noescape
func fence()

// fenceName says what fence is here.
const fenceName = "LFENCE"
