package main

import (
	"fmt"
	"os"
	"time"

	"weir/vectors"
)

// program is the port that was asked for.
func (v *verification) program(a app, s vectors.Suite, o vectors.Options) (candidate, error) {
	words, err := vectors.SplitCommand(v.port)
	if err != nil {
		return candidate{}, fmt.Errorf("port is %q: it %w", v.port, err)
	}
	if v.expect != "" {
		if o.Expect, err = expectations(v.expect); err != nil {
			return candidate{}, fmt.Errorf("expect: %w", err)
		}
	}
	from := vectors.PortOptions{Command: words, Text: v.protocol == "text", Suite: s.Version, StartUp: v.startUp, Limit: v.limit}
	if v.trace {
		from.Trace = a.out
		if v.asJSON || v.asTAP {
			from.Trace = a.err
		}
	}
	d, err := vectors.NewPort(a.ctx, from)
	if err != nil {
		return candidate{}, err
	}
	o.Replay = v.replay(v.portFlags()...)
	return candidate{driver: d, options: o}, nil
}

func expectations(name string) (*vectors.Expectations, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return vectors.ReadExpectations(name, f)
}

// portFlags are the flags that start the port again as it was.
func (v *verification) portFlags() []string {
	words := []string{"--port", v.port}
	if v.protocol != "json" {
		words = append(words, "--protocol", v.protocol)
	}
	if v.limit != 5*time.Second {
		words = append(words, "--timeout", v.limit.String())
	}
	return words
}

// replay gives the command line that runs one case alone.
func (v *verification) replay(chosen ...string) func(id string) string {
	words := append([]string{"weir", "verify"}, chosen...)
	if v.from != "" {
		words = append(words, "--vectors", v.from)
	}
	return func(id string) string {
		line := vectors.Quote(append(words[:len(words):len(words)], "--case", id)...)
		if v.port != "" {
			line += " --trace"
		}
		return line
	}
}
