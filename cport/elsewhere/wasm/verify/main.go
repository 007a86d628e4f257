// Command verify puts the C library, as WebAssembly, through the vectors, as `weir verify --impl c` does natively. It is not
// a flag of that command, so that weir depends on no WebAssembly runtime. Run it in cport/elsewhere.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"weir/cport/elsewhere/wasm"
	"weir/vectors"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := verify(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func verify(ctx context.Context) (bool, error) {
	suite, err := vectors.Load(vectors.FS())
	if err != nil {
		return false, err
	}
	bytes, err := wasm.Build(ctx, "..")
	if err != nil {
		return false, err
	}
	m, err := wasm.Load(ctx, bytes)
	if err != nil {
		return false, err
	}
	d, err := wasm.NewDriver(ctx, m)
	if err != nil {
		return false, err
	}
	defer d.Close()
	report, err := vectors.Run(ctx, suite, d, vectors.Options{})
	if err != nil {
		return false, err
	}
	return report.OK(false), report.WriteTable(os.Stdout)
}
