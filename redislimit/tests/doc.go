// Package tests puts package redislimit and its stores through real servers: one, one with a replica that takes over, and a
// Cluster of three, with faults. It has nothing but tests, and the command speed.
package tests
