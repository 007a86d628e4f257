// Package wasm runs the C library as WebAssembly, by wazero: a policy.Policy for all five and a driver for the vectors.
package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNoTools says that this machine cannot build the module.
var ErrNoTools = errors.New("wasm: this machine cannot build it")

// Declared are the names of the C API, from the public headers; cport is that folder.
func Declared(ctx context.Context, cport string) (string, error) {
	out, err := exec.CommandContext(ctx, "sh", filepath.Join(cport, "declared.sh")).Output()
	if err != nil {
		return "", fmt.Errorf("declared.sh: %w", err)
	}
	return string(out), nil
}

// Build compiles the library for wasm32 with clang and lld, without a libc, and gives the module's bytes; cport is the
// library's folder. An error that wraps ErrNoTools says what is missing.
func Build(ctx context.Context, cport string) ([]byte, error) {
	for _, tool := range []string{"clang", "wasm-ld"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%w: there is no %s", ErrNoTools, tool)
		}
	}
	dir, err := os.MkdirTemp("", "weir-wasm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sources, err := filepath.Glob(filepath.Join(cport, "src", "*.c"))
	if err != nil {
		return nil, err
	}
	module := filepath.Join(dir, "weir.wasm")
	flags := []string{"--target=wasm32", "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror",
		"-O2", "-ffreestanding", "-nostdlib", "-mbulk-memory", "-DWEIR_NO_MALLOC", "-I" + filepath.Join(cport, "include"),
		"-Wl,--no-entry", "-o", module, filepath.Join(cport, "elsewhere", "wasm", "c", "wasm.c")}
	declared, err := Declared(ctx, cport)
	if err != nil {
		return nil, err
	}
	for _, name := range exported(declared) {
		flags = append(flags, "-Wl,--export="+name)
	}
	if out, err := exec.CommandContext(ctx, "clang", append(flags, sources...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("clang: %w\n%s", err, out)
	}
	return os.ReadFile(module)
}
