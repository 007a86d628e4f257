//go:build race

package agree_test

// The race detector slows every step down; its runs look for races, not for volume.
const slowdown = 10
