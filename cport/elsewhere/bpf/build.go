// Package bpf runs the steps of the C library in the kernel, as a BPF program over the values of a map: a policy.Policy for
// the four buckets and a driver for the vectors.
package bpf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cilium/ebpf"
)

// ErrNoTools says that this machine cannot build the program.
var ErrNoTools = errors.New("bpf: this machine cannot build it")

// Build compiles the program with clang and gives the object's bytes; cport is the library's folder. An error that wraps
// ErrNoTools says what is missing.
func Build(ctx context.Context, cport string) ([]byte, error) {
	if _, err := exec.LookPath("clang"); err != nil {
		return nil, fmt.Errorf("%w: there is no clang", ErrNoTools)
	}
	dir, err := os.MkdirTemp("", "weir-bpf")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	object := filepath.Join(dir, "step.o")
	out, err := exec.CommandContext(ctx, "clang", "--target=bpf", "-mcpu=v3", "-g", "-O2", "-std=c11", "-pedantic", "-Wall",
		"-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-ffreestanding", "-I"+filepath.Join(cport, "include"),
		"-c", filepath.Join(cport, "elsewhere", "bpf", "c", "step.c"), "-o", object).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("clang: %w\n%s", err, out)
	}
	return os.ReadFile(object)
}

// Load puts the programs of an object and their maps into the kernel. What the kernel says against it is in the error.
func Load(object []byte) (*ebpf.Collection, error) {
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(object))
	if err != nil {
		return nil, fmt.Errorf("bpf: %w", err)
	}
	all, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, fmt.Errorf("bpf: %w", err)
	}
	return all, nil
}
