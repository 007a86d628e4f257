//go:build !race

package agree_test

const slowdown = 1
