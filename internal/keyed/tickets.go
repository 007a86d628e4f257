package keyed

// tickets say which of a shard's latest admissions may still be undone: those whose keys have been given nothing back since,
// and have not been freed. An undo whose ticket has made room for later ones is refused.
type tickets struct {
	serial uint64
	latest []ticket // of serial s at s modulo its length; nil until somebody wants to undo
}

type ticket struct{ key, serial uint64 }

// latestTickets is how many admissions of one shard may be waiting to be undone at once.
const latestTickets = 64

// issue gives the number of a ticket for an admission of key.
func (k *tickets) issue(key uint64) uint64 {
	if k.latest == nil {
		k.latest = make([]ticket, latestTickets)
	}
	k.serial++
	k.latest[k.serial%latestTickets] = ticket{key, k.serial}
	return k.serial
}

// void makes all tickets of a key worthless.
func (k *tickets) void(key uint64) {
	for i := range k.latest {
		if k.latest[i].key == key {
			k.latest[i].serial = 0
		}
	}
}

// good says whether a ticket can still be used.
func (k *tickets) good(serial uint64) bool {
	return serial != 0 && k.latest != nil && k.latest[serial%latestTickets].serial == serial
}
