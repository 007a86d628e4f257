package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"weir"
)

// Reload puts the file in force as it is now: all of it, or, where anything is wrong with it, nothing, and then the old
// limits stay. A changed limit acts at once and hands out no fresh burst, as weir.Limiter.SetLimit has it. Limits and plans
// may be added, and plans taken away: whoever had one is then under the limit of everybody else. What a running limiter
// cannot change is refused: a limit's policy, key, max_keys and dry_run, the proxies, and that a limit is there. The log
// says what became of it.
func (l *Limits) Reload(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := readFile(l.path)
	if err != nil {
		l.log.Warn("weir: the limits cannot be read: the old ones stay in force", "file", l.path, "error", err)
		return err
	}
	return l.change(ctx, text)
}

// change puts a text in force and says so. The lock is held.
func (l *Limits) change(ctx context.Context, text []byte) error {
	l.text = text
	err := l.put(ctx, text)
	var faults Faults
	switch {
	case errors.As(err, &faults):
		for _, f := range faults[:min(len(faults), mostSaid)] {
			l.log.Warn("weir: the limits are faulty: the old ones stay in force", "file", f.File, "line", f.Line, "fault", f.Text)
		}
	case err != nil:
		l.log.Warn("weir: the limits cannot be put in force: the old ones stay", "file", l.path, "error", err)
	default:
		l.log.Info("weir: new limits are in force", "file", l.path, "limits", len(l.File().Limits))
	}
	return err
}

// mostSaid is how many faults of one file the log tells.
const mostSaid = 20

// Watch looks at the file every so often, puts it in force when it has changed and is the same at two looks, and returns ctx's
// error when ctx ends. Give it a goroutine. every is above 0.
func (l *Limits) Watch(ctx context.Context, every time.Duration) error {
	if every <= 0 {
		return fmt.Errorf("config: Watch: every is %v, must be above 0", every)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			said = l.look(ctx, said)
		}
	}
}

// look reloads a file that has changed. One that differs from the last look may be half written, and half of a limit can be
// another limit: it waits for the next. What keeps it from being read is said once: said is what was said last.
func (l *Limits) look(ctx context.Context, said string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := readFile(l.path)
	switch {
	case err != nil && err.Error() != said:
		l.log.Warn("weir: the limits cannot be read: the old ones stay in force", "file", l.path, "error", err)
		return err.Error()
	case err != nil:
		return said
	case !bytes.Equal(text, l.seen):
		l.seen = text
	case !bytes.Equal(text, l.text):
		_ = l.change(ctx, text) // which says it
	}
	return ""
}

// put puts a text in force, or nothing. The lock is held, or nobody knows l yet.
func (l *Limits) put(ctx context.Context, text []byte) error {
	file, err := Parse(l.path, text)
	if err != nil {
		return err
	}
	if old := l.state.Load(); old != nil {
		if faults := file.unlike(old.file, l.path); len(faults) > 0 {
			return faults
		}
	}
	next := &state{file, map[id]weir.Limiter{}}
	var set []change
	for _, w := range file.wanted() {
		key := id{w.Name, w.Plan}
		limiter := l.all[key]
		if limiter == nil {
			if limiter, err = l.make(w); err != nil {
				return fmt.Errorf("config: limit %q, plan %q: %w", w.Name, w.Plan, err)
			}
			if limiter == nil {
				return fmt.Errorf("config: limit %q, plan %q: the maker made none", w.Name, w.Plan)
			}
		} else if limiter.Limit() != w.Limit {
			set = append(set, change{key, limiter, limiter.Limit(), w.Limit})
		}
		next.limiters[key] = limiter
	}
	if err := setAll(ctx, set); err != nil {
		return err
	}
	for key, limiter := range next.limiters {
		l.all[key] = limiter
	}
	l.state.Store(next)
	return nil
}

// change is a limiter that is to have another limit.
type change struct {
	id
	limiter  weir.Limiter
	old, new weir.Limit
}

// setAll changes all limits, or puts back those that it has changed.
func setAll(ctx context.Context, set []change) error {
	for i, c := range set {
		if err := c.limiter.SetLimit(ctx, c.new); err != nil {
			for _, done := range set[:i] {
				err = errors.Join(err, done.limiter.SetLimit(ctx, done.old))
			}
			return fmt.Errorf("config: limit %q, plan %q: %w", c.name, c.plan, err)
		}
	}
	return nil
}

// wanted is the limiters that a file asks for.
func (f *File) wanted() (all []Wanted) {
	for _, l := range f.Limits {
		all = append(all, Wanted{l.Name, "", l.Policy, l.Limit, l.MaxKeys})
		for plan, limit := range l.Plans {
			all = append(all, Wanted{l.Name, plan, l.Policy, limit, l.MaxKeys})
		}
	}
	return all
}

// unlike is what a file changes that cannot be changed while its limiters run.
func (f *File) unlike(old *File, path string) (faults Faults) {
	if !reflect.DeepEqual(f.Address, old.Address) {
		faults = append(faults, Fault{path, 1, "proxies and ipv6_bits cannot change while the program runs"})
	}
	for _, before := range old.Limits {
		i := slices.IndexFunc(f.Limits, func(l Limit) bool { return l.Name == before.Name })
		if i < 0 {
			faults = append(faults, Fault{path, 1, fmt.Sprintf("limits.%s: is missing, cannot be taken away while the program runs", before.Name)})
			continue
		}
		l := f.Limits[i]
		for _, field := range []struct {
			name    string
			changed bool
			was     any
		}{
			{"policy", l.Policy != before.Policy, before.Policy},
			{"key", !slices.Equal(l.Keys, before.Keys), before.Keys},
			{"max_keys", l.MaxKeys != before.MaxKeys, before.MaxKeys},
			{"dry_run", l.DryRun != before.DryRun, before.DryRun},
		} {
			if field.changed {
				faults = append(faults, Fault{path, l.lineOf(field.name), fmt.Sprintf(
					"limits.%s.%s: was %v, cannot change while the program runs", l.Name, field.name, field.was)})
			}
		}
	}
	return faults
}

// lineOf is the line of a field, that of the limit's name where the field is left out.
func (l Limit) lineOf(field string) int {
	if line := l.lines[field]; line > 0 {
		return line
	}
	return l.line
}
