// Command bench measures weir beside other people's rate limiters. It is a module of its own, so that weir depends on none
// of them.
//
//	go run . rivals    put every rival through the vectors and print a Markdown table
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"weir/bench/rivals"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != "rivals" {
		fmt.Fprintln(os.Stderr, "usage: go run . rivals")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := rivals.Write(ctx, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}
