/*
Package agree holds the tests that cross the five policies: that they agree with each other, with the exact model of
internal/oracle, with the algorithms that the standards print, and with what policy.Policy promises. It has no code of its
own.

Everything drawn comes from one generator, so that a loop over a seed (volume), rapid (shrinking) and a fuzzer's bytes
(coverage) all write the same programs of calls. WEIR_SEED=n draws other programs than the fixed ones.
*/
package agree
