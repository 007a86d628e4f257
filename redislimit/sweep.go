package redislimit

import (
	"context"
	"strconv"
	"strings"

	"weir/policy"
)

// Sweep is policy.Policy's. It looks at all keys, whatever slots is, in several round trips.
func (p *told) Sweep(now uint64, _ int) (freed int, done bool) {
	keys, err := p.keys()
	if err != nil {
		return 0, false
	}
	now = min(now, p.current().horizon)
	for _, key := range keys {
		if _, err := p.ask("sweep", now, key, costs{}); err != nil {
			return 0, false
		}
	}
	left, err := p.keys()
	return len(keys) - len(left), err == nil
}

// Keys is policy.Policy's: 0 too if the server cannot be asked.
func (p *told) Keys() int {
	keys, _ := p.keys()
	return len(keys)
}

// Horizon is policy.Policy's.
func (p *told) Horizon() uint64 { return p.current().horizon }

// Limit is policy.Policy's.
func (p *told) Limit() policy.Limit { return p.current().limit }

// keys lists the keys that the server holds.
func (p *told) keys() ([]uint64, error) {
	seen := map[uint64]bool{}
	var keys []uint64
	for cursor := "0"; ; {
		r := runOne(context.Background(), p.store,
			Call{Digest: scanScript, Keys: []string{p.key(0)}, Args: []string{cursor, p.prefix + "*"}})
		if r.Err != nil {
			return nil, r.Err
		}
		for i, v := range r.Values {
			text, ok := v.(string)
			if !ok {
				return nil, errReply
			}
			if i == 0 {
				cursor = text
				continue
			}
			key, err := strconv.ParseUint(strings.TrimPrefix(text, p.prefix), 10, 64)
			if err != nil {
				return nil, errReply
			}
			if !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
		if len(r.Values) == 0 {
			return nil, errReply
		}
		if cursor == "0" {
			return keys, nil
		}
	}
}
