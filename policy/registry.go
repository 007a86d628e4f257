package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Registry names makers of policies. The zero Registry is empty and ready to use. Filling one is not safe for
// concurrent use; reading it is.
type Registry struct {
	names  []string
	makers []Maker
}

// Add puts a maker under a name. It refuses an empty name, one with white space, one that is taken, and a nil maker.
func (r *Registry) Add(name string, m Maker) error {
	switch {
	case name == "" || len(strings.Fields(name)) != 1 || strings.TrimSpace(name) != name:
		return fmt.Errorf("policy name %q: must be one word", name)
	case m == nil:
		return fmt.Errorf("policy %q: its maker is nil", name)
	case slices.Contains(r.names, name):
		return fmt.Errorf("policy %q: the name is taken", name)
	}
	r.names = append(r.names, name)
	r.makers = append(r.makers, m)
	return nil
}

// New makes the policy of that name. The error wraps ErrUnknownPolicy and lists the known names, or is what the maker
// says of the limit, with the name before it.
func (r *Registry) New(name string, l Limit, o Options) (Policy, error) {
	i := slices.Index(r.names, name)
	if i < 0 {
		return nil, r.unknown(name)
	}
	p, err := r.makers[i](l, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// Names lists the policies in the order in which they were added.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Check is nil for a known name; else the error that New gives for it.
func (r *Registry) Check(name string) error {
	if slices.Contains(r.names, name) {
		return nil
	}
	return r.unknown(name)
}

func (r *Registry) unknown(name string) error {
	if len(r.names) == 0 {
		return fmt.Errorf("%w: %q; the registry is empty", ErrUnknownPolicy, name)
	}
	return fmt.Errorf("%w: %q; known are %s", ErrUnknownPolicy, name, strings.Join(r.names, ", "))
}
