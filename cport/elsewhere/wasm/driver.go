package wasm

import (
	"context"
	"encoding/hex"
	"slices"

	"weir/vectors"
)

// Driver puts the module through the vectors: every case in an instance of its own.
type Driver struct {
	*vectors.RegistryDriver
	module *Module
	hashes *instance
	open   []func() error
}

// NewDriver drives a module. Like every port in C it has all of a table from the start, so it does not claim long logs.
func NewDriver(ctx context.Context, m *Module) (*Driver, error) {
	hashes, err := m.instance(ctx)
	if err != nil {
		return nil, err
	}
	d := &Driver{module: m, hashes: hashes}
	r := m.Registry(ctx, func(close func() error) { d.open = append(d.open, close) })
	d.RegistryDriver = vectors.NewRegistryDriver("weir-wasm", "c", r).Fixed(DefaultMaxKeys).Without(vectors.CanLongLog)
	return d, nil
}

// Hello is the registry's, and the hashes.
func (d *Driver) Hello(ctx context.Context) (vectors.Hello, error) {
	h, err := d.RegistryDriver.Hello(ctx)
	h.Can = append(slices.Clone(h.Can), vectors.CanXXH64, vectors.CanMix32)
	return h, err
}

// Run answers one case and closes the instance that it was in.
func (d *Driver) Run(ctx context.Context, q vectors.Request) (vectors.Reply, error) {
	reply, err := d.RegistryDriver.Run(ctx, q)
	for _, close := range d.open {
		if e := close(); err == nil {
			err = e
		}
	}
	d.open = nil
	return reply, err
}

// Hash is the key that the module makes.
func (d *Driver) Hash(_ context.Context, q vectors.HashRequest) (vectors.Number, error) {
	if q.Hash == vectors.CanMix32 {
		return vectors.Number(uint32(d.hashes.call("weir_mix32", uint64(*q.In)))), nil
	}
	b, err := hex.DecodeString(*q.Hex)
	if err == nil && (!d.hashes.reach(uint64(len(b))) || !d.hashes.module.Memory().Write(d.hashes.block, b)) {
		return 0, &vectors.DriverError{Verdict: vectors.Crash, Text: "no memory"}
	}
	if err != nil {
		return 0, &vectors.DriverError{Verdict: vectors.ProtocolError, Text: err.Error()}
	}
	key := d.hashes.call("weir_xxh64", uint64(d.hashes.block), uint64(len(b)), uint64(*q.Seed))
	return vectors.Number(key), nil
}

// Close ends the module.
func (d *Driver) Close() error { return d.module.Close(context.Background()) }
