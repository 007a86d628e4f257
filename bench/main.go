// Command bench measures weir beside other people's rate limiters. It is a module of its own, so that weir depends on none
// of them.
//
//	go run . rivals                                  put every rival through the vectors and print a Markdown table
//	go run . speed [-quick] [-huge] [-update]   time weir, rivals and floors, and print a report or put it into speed/README.md
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"weir/bench/rivals"
	"weir/bench/speed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "rivals":
		err = rivals.Write(ctx, os.Stdout, os.Stderr)
	case len(os.Args) >= 2 && os.Args[1] == "speed":
		err = speed.Write(ctx, speedOptions(os.Args[2:]), os.Stdout, os.Stderr)
	default:
		fmt.Fprintln(os.Stderr, "usage: go run . rivals | go run . speed [-quick] [-huge] [-update]")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func speedOptions(words []string) (o speed.Options) {
	flags := flag.NewFlagSet("speed", flag.ExitOnError)
	flags.BoolVar(&o.Quick, "quick", false, "a minute or two, to see that it works")
	flags.BoolVar(&o.Huge, "huge", false, "go on to 100,000,000 keys, with 8 GB of memory")
	update := flags.Bool("update", false, "put the report into speed/README.md, and the pictures beside it")
	_ = flags.Parse(words) // it exits on an error
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "bench: speed takes no word %q\n", flags.Arg(0))
		os.Exit(2)
	}
	if *update {
		o.Update = filepath.Join("speed", "README.md")
	}
	o.Command = strings.Join(append([]string{"go run . speed"}, words...), " ")
	return o
}
