package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"weir"
	"weir/httplimit"
)

// Wanted is a limiter that a file asks for.
type Wanted struct {
	// Name is the limit's and Plan the plan's, "" for everybody without one.
	Name, Plan string
	// Policy is the name of the policy.
	Policy string
	// Limit is the limit to begin with; a changed file changes it by SetLimit.
	Limit weir.Limit
	// MaxKeys bounds the keys, 0 for no bound.
	MaxKeys uint64
}

// Maker makes a limiter: WithMaker takes one to have limiters elsewhere, or observed.
type Maker func(Wanted) (weir.Limiter, error)

// Option changes how Open makes limits.
type Option func(*Limits) error

// WithMaker makes limiters by make instead of by Make.
func WithMaker(make Maker) Option {
	return func(l *Limits) error {
		if make == nil {
			return errors.New("WithMaker: the maker is nil")
		}
		l.make = make
		return nil
	}
}

// WithLogger says to log what became of changed files, instead of to slog's default logger.
func WithLogger(log *slog.Logger) Option {
	return func(l *Limits) error {
		if log == nil {
			return errors.New("WithLogger: the logger is nil")
		}
		l.log = log
		return nil
	}
}

// Make makes the limiter of this process that is wanted.
func Make(w Wanted) (weir.Limiter, error) {
	var o []weir.Option
	if w.MaxKeys > 0 {
		o = append(o, weir.WithMaxKeys(w.MaxKeys))
	}
	return weir.New(w.Policy, w.Limit, o...)
}

// Limits are the limiters of a file, which may change. Open makes them; they are safe for concurrent use.
type Limits struct {
	path string
	make Maker
	log  *slog.Logger

	mu    sync.Mutex // held to change what follows
	text  []byte     // of the file that was last put in force, or refused
	seen  []byte     // of the file when Watch last looked at it
	all   map[id]weir.Limiter
	state atomic.Pointer[state]
}

// id is a limit's name and a plan's.
type id struct{ name, plan string }

// state is a file in force.
type state struct {
	file     *File
	limiters map[id]weir.Limiter
}

// Open reads a file and makes its limiters. The error is a Faults, or says why the file cannot be read or a limiter not made.
func Open(path string, o ...Option) (*Limits, error) {
	l := &Limits{path: path, make: Make, log: slog.Default(), all: map[id]weir.Limiter{}}
	for _, option := range o {
		if option == nil {
			return nil, errors.New("config.Open: an option is nil")
		}
		if err := option(l); err != nil {
			return nil, fmt.Errorf("config.%w", err)
		}
	}
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	l.text = text
	if err := l.put(context.Background(), text); err != nil {
		return nil, err
	}
	return l, nil
}

// readFile reads a file, a byte more than Parse takes at most.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostBytes+1))
}

// File is the file in force.
func (l *Limits) File() *File { return l.state.Load().file }

// Limiter is the limiter of the limit of that name for those who have a plan; where the limit has no such plan it is that for
// everybody else, and nil where there is no such limit. A limiter stays the same as long as the Limits are there.
func (l *Limits) Limiter(name, plan string) weir.Limiter {
	s := l.state.Load()
	if limiter, ok := s.limiters[id{name, plan}]; ok {
		return limiter
	}
	return s.limiters[id{name, ""}]
}

// Rule is the limit of that name as a rule for package httplimit. plan says which plan a request has, "" for none; nil means
// that none has one. The error names the limit if there is none of that name.
func (l *Limits) Rule(name string, plan func(*http.Request) string) (httplimit.Rule, error) {
	f := l.File()
	i := slices.IndexFunc(f.Limits, func(l Limit) bool { return l.Name == name })
	if i < 0 {
		return httplimit.Rule{}, fmt.Errorf("config: %s has no limit %.60q", l.path, name)
	}
	key, err := f.key(f.Limits[i])
	rule := httplimit.Rule{Name: name, Key: key, DryRun: f.Limits[i].DryRun}
	if plan == nil {
		rule.Limiter = l.Limiter(name, "")
	} else {
		rule.Plan = func(r *http.Request) weir.Limiter { return l.Limiter(name, plan(r)) }
	}
	return rule, err
}

// key is the KeyFunc of a limit.
func (f *File) key(l Limit) (httplimit.KeyFunc, error) {
	address, err := f.Address.Key()
	var keys []httplimit.KeyFunc
	for _, name := range l.Keys {
		switch header, isHeader := strings.CutPrefix(name, "header "); {
		case isHeader:
			keys = append(keys, httplimit.Header(header))
		case name == "user":
			keys = append(keys, httplimit.BasicUser)
		default:
			keys = append(keys, address)
		}
	}
	if len(keys) == 1 {
		return keys[0], err
	}
	return httplimit.First(keys...), err
}
