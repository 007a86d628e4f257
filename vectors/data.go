/*
Package vectors is the suite that says what every policy answers, to the tick and to the permit, and the means to put an
implementation through it.

The data stands beside this code, under a licence that asks nothing of a port: README.md tells a port author all there
is to know, rules.json what the cases test, schema/ how the files and the messages look. Load reads a suite, Run puts a
Driver through it, and a Report says what came of it.
*/
package vectors

import (
	"embed"
	"io/fs"
)

// files holds the suite: */*.json is the schemas, the hash vectors and a folder for each policy.
//
//go:embed VERSION README.md LICENSE rules.json mutants.json */*.json
var files embed.FS

// Format is the number that every file of the suite starts with.
const Format = 1

// Protocol is the number of the protocol that README.md defines for ports.
const Protocol = 1

// FS is the suite as this package was built with it.
func FS() fs.FS { return files }

// Policies lists the policies that the suite knows, in the order in which it presents them.
func Policies() []string {
	return []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"}
}

// Categories lists the categories of cases in the order in which a report presents them.
func Categories() []string {
	return []string{"basic", "boundary", "carry", "cost", "overflow", "clock", "multikey", "maxkeys", "peek", "refund",
		"sweep", "relimit", "config", "atm", "regression"}
}

// What a port may lack. A case says what it needs, a port what it can.
const (
	CanMaxKeys = "max_keys" // can be made with any max_keys
	CanRefund  = "refund"
	CanPeek    = "peek"
	CanSweep   = "sweep"
	CanRelimit = "relimit"
	CanCost2   = "cost2"    // a dual bucket's second cost
	CanLongLog = "long_log" // more than 4,096 entries a key in a sliding log
	CanInt64   = "int64"    // exact beyond 2^53
	CanXXH64   = "xxh64"
	CanMix32   = "mix32"
)

// Capabilities lists what a port may lack.
func Capabilities() []string {
	return []string{CanMaxKeys, CanRefund, CanPeek, CanSweep, CanRelimit, CanCost2, CanLongLog, CanInt64, CanXXH64,
		CanMix32}
}
