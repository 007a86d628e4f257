package mutants

// fault is the id of the one thing that is wrong; "" is a model with nothing wrong. Every part of the model holds it.
type fault string

// is marks the place of a fault: what it guards is done by the mutant of that id and by no other.
func (f fault) is(id string) bool { return string(f) == id }

// or marks the place of a fault in one line: it is right, but for the mutant of that id, for which it is wrong.
func or[T any](f fault, id string, right, wrong T) T {
	if f.is(id) {
		return wrong
	}
	return right
}
