package wasm

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// MaxBytes is the largest table that is made.
const MaxBytes = 64 << 20

const page = 65536

// Module is the compiled library, from which every table is an instance of its own.
type Module struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// Load compiles the bytes of a module.
func Load(ctx context.Context, bytes []byte) (*Module, error) {
	r := wazero.NewRuntime(ctx)
	compiled, err := r.CompileModule(ctx, bytes)
	if err != nil {
		_ = r.Close(ctx)
		return nil, fmt.Errorf("wasm: %w", err)
	}
	return &Module{runtime: r, compiled: compiled}, nil
}

// Exported are the functions that a host can call.
func (m *Module) Exported() []string {
	var names []string
	for name := range m.compiled.ExportedFunctions() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Imported is how many functions the module asks of its host: none.
func (m *Module) Imported() int { return len(m.compiled.ImportedFunctions()) }

// Close ends the module and all its instances.
func (m *Module) Close(ctx context.Context) error { return m.runtime.Close(ctx) }

// exported are the names of the C API that a library without malloc has.
func exported(declared string) []string {
	return slices.DeleteFunc(strings.Fields(declared), func(name string) bool {
		return strings.HasSuffix(name, "_create") || strings.HasSuffix(name, "_destroy")
	})
}

// instance is one memory of the module.
type instance struct {
	ctx         context.Context // of the calls: policy.Policy passes none
	module      api.Module
	desk, block uint32
}

// The words of the desk, in the order of c/wasm.c.
const (
	deskLimit   = 0
	deskNow     = 6
	deskOutcome = 10
	deskFreed   = 17
)

func (m *Module) instance(ctx context.Context) (*instance, error) {
	module, err := m.runtime.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, fmt.Errorf("wasm: %w", err)
	}
	i := &instance{ctx: ctx, module: module}
	i.desk, i.block = uint32(i.call("weir_wasm_desk")), uint32(i.call("weir_wasm_block"))
	return i, nil
}

// call calls a function of the module; one that is not there or that traps is a panic, as it would be in Go.
func (i *instance) call(name string, arguments ...uint64) uint64 {
	f := i.module.ExportedFunction(name)
	if f == nil {
		panic("wasm: there is no " + name)
	}
	results, err := f.Call(i.ctx, arguments...)
	if err != nil {
		panic(fmt.Sprintf("wasm: %s: %v", name, err))
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

// reach makes the memory large enough for a block of so many bytes, and says whether it could.
func (i *instance) reach(bytes uint64) bool {
	end, size := uint64(i.block)+bytes, uint64(i.module.Memory().Size())
	if end <= size {
		return true
	}
	_, ok := i.module.Memory().Grow(uint32((end - size + page - 1) / page))
	return ok
}

// put writes words to the desk from the word at on.
func (i *instance) put(at uint32, words ...uint64) {
	for n, w := range words {
		if !i.module.Memory().WriteUint64Le(i.desk+8*(at+uint32(n)), w) {
			panic("wasm: the desk is not in memory")
		}
	}
}

// get reads words of the desk.
func (i *instance) get(at uint32, words ...*uint64) {
	bytes, ok := i.module.Memory().Read(i.desk+8*at, uint32(8*len(words)))
	if !ok {
		panic("wasm: the desk is not in memory")
	}
	for n, w := range words {
		*w = binary.LittleEndian.Uint64(bytes[8*n:])
	}
}

// text reads a string of C.
func (i *instance) text(at uint64) string {
	var word []byte
	for {
		b, ok := i.module.Memory().ReadByte(uint32(at) + uint32(len(word)))
		if !ok || b == 0 {
			return string(word)
		}
		word = append(word, b)
	}
}

func (i *instance) close() error { return i.module.Close(i.ctx) }
