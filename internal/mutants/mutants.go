/*
Package mutants proves that the vectors catch faults. It holds a model of the five policies, written out once more in
plain maps and signed integers, which shares no code with the policies that are shipped; and a catalogue of faults, each
of which is one marked place of that model: a call of fault.or, or a branch on fault.is, with the fault's id. A mutant is
the model with one of those places switched on. The model with none must pass every case of the suite; each mutant must
fail at least one.

Nothing here is for use: a mutant is wrong, and the model is slow, forgives no misuse and is not safe for concurrent use.
*/
package mutants
