//go:build race

package weir_test

// underRace says that the race detector watches, which makes everything ten times slower.
const underRace = true
