// Command weir lists and describes rate limiting policies, proves implementations of them on the vectors, and shows what
// a limit would have done to the traffic of a log. Run "weir help".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit statuses.
const (
	good  = 0
	wrong = 1 // not all is as it should be
	usage = 2 // what was asked for cannot be done
)

// app is what a command works with.
type app struct {
	ctx      context.Context
	in       io.Reader
	out, err io.Writer
}

type command struct {
	name, args, about string
	run               func(app, []string) (status int, err error)
}

// commands are in the order in which help shows them.
func commands() []command {
	return []command{
		{"list", "", "the policies, a line each", list},
		{"describe", "NAME", "a policy's page: what it is, when to take it, how it works", describe},
		{"verify", "[flags]", "put the Go policies, the C port or any program through the vectors", verify},
		{"simulate", "--limit TEXT --log FILE [flags]", "what each policy would have done to a log, in numbers and pictures", simulate},
		{"recommend", "--log FILE [flags]", "the least limit that lets a share of the clients pass untouched", recommend},
		{"watch", "--limit TEXT --log FILE [flags]", "the same as simulate on a log that grows", watch},
		{"explain", "--limit TEXT --at TIMES [flags]", "a policy's decisions, step by step, and the sum behind each", explainCommand},
		{"check", "FILE...", "check files of limits, YAML or JSON: every fault with its line", check},
		{"vectors", "export|lint ...", "the vectors as C, text or JSON; check vector files", vectorsCommand},
		{"mutants", "[flags]", "put deliberately wrong policies through the vectors: none may pass", score},
	}
}

func main() {
	os.Exit(run(app{context.Background(), os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// run runs a command; what it could not write is an error too.
func run(a app, args []string) int {
	out := &checked{to: a.out}
	a.out = out
	status := dispatch(a, args)
	if out.err != nil && status == good {
		fmt.Fprintf(a.err, "weir: the output could not be written: %v\n", out.err)
		return usage
	}
	return status
}

// checked remembers the first error of a writer.
type checked struct {
	to  io.Writer
	err error
}

func (c *checked) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// tidy makes a command's context end when it is interrupted, so that it can end its processes first. A second interrupt
// ends the command at once.
func (a *app) tidy() (done func()) {
	ctx, stop := signal.NotifyContext(a.ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	a.ctx = ctx
	return stop
}

func dispatch(a app, args []string) int {
	if len(args) == 0 {
		help(a.err)
		return usage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		help(a.out)
		return good
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.start(a, args[1:])
		}
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	fmt.Fprintf(a.err, "weir: no command %q; there are %s and help\n", args[0], strings.Join(names, ", "))
	return usage
}

// start runs a command; whatever it cannot do ends in one line.
func (c command) start(a app, args []string) int {
	status, err := c.run(a, args)
	if errors.Is(err, flag.ErrHelp) {
		return good
	}
	if err != nil {
		fmt.Fprintf(a.err, "weir %s: %s\n", c.name, short(err.Error()))
	}
	return status
}

// short keeps what a person has typed or a file holds from filling the screen.
func short(text string) string {
	const most = 1000
	if len(text) > most {
		return text[:most/2] + " ... " + text[len(text)-most/2:]
	}
	return text
}

func help(w io.Writer) {
	fmt.Fprint(w, "weir: rate limiting that is exact, provable and the same in every language\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  weir %-42s %s\n", c.name+" "+c.args, c.about)
	}
	fmt.Fprint(w, "\n\"weir COMMAND -h\" shows a command's flags. Exit status: 0 all is well, 1 something is not, "+
		"2 it could not be done.\n")
}

// flags is a set that reports its errors in one line.
func flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

// more ends the name of a word of which there may be any number, none too.
const more = "...]"

// parse reads the flags of a command and the words that it takes besides, as many as names has, or more if the last says so.
// Asked for help it shows the flags.
func parse(a app, f *flag.FlagSet, args []string, names ...string) error {
	err := f.Parse(args)
	any := len(names) > 0 && strings.HasSuffix(names[len(names)-1], more)
	see := fmt.Sprintf("\"weir %s -h\" shows how", f.Name())
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(a.out, "weir %s\n\n", strings.Join(append([]string{f.Name(), "[flags]"}, names...), " "))
		f.SetOutput(a.out)
		f.PrintDefaults()
		return err
	case err != nil:
		return fmt.Errorf("%w; %s", err, see)
	case any:
		return nil
	case f.NArg() < len(names):
		return fmt.Errorf("%s is missing; %s", names[f.NArg()], see)
	case f.NArg() > len(names):
		return fmt.Errorf("unexpected word %q; %s", f.Arg(len(names)), see)
	}
	return nil
}

// names splits a list of names with commas. None at all is an error.
func names(field, text string) ([]string, error) {
	var list []string
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, fmt.Errorf("%s is %q, must be names with commas between", field, text)
		}
		list = append(list, name)
	}
	return list, nil
}
