//go:build cgo

package cport

// SipKey is what the tests of SipHash ask.
var SipKey = sipKey
