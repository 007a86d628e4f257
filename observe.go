package weir

import (
	"context"
	"time"
)

// Observer hears what a limiter decides: for metrics and logs. It is told no key, so that none gets into a label. Any of its
// functions may be nil. They are called by the goroutine that asked, after the decision, and by many at the same time: they
// have to be quick.
type Observer struct {
	// Decided hears of each Allow and AllowN, and of each ask of Together that was charged or that refused. A Peek is no
	// decision.
	Decided func(ctx context.Context, c Cost, r Result)
	// Waited hears of each Wait: how long it took, on Go's own clock, and its error.
	Waited func(ctx context.Context, c Cost, waited time.Duration, err error)
}

// Observed is l with somebody who hears of it. A limiter that nobody observes pays nothing for this. Observed of nil is nil.
func Observed(l Limiter, o Observer) Limiter {
	if l == nil {
		return nil
	}
	return &observed{l, o}
}

type observed struct {
	Limiter
	observer Observer
}

func (o *observed) Allow(ctx context.Context, key string) Result { return o.AllowN(ctx, key, N(1)) }

func (o *observed) AllowN(ctx context.Context, key string, c Cost) Result {
	r := o.Limiter.AllowN(ctx, key, c)
	o.tell(ctx, c, r)
	return r
}

func (o *observed) Wait(ctx context.Context, key string, c Cost) error {
	if o.observer.Waited == nil {
		return o.Limiter.Wait(ctx, key, c)
	}
	start := time.Now()
	err := o.Limiter.Wait(ctx, key, c)
	o.observer.Waited(ctx, c, time.Since(start), err)
	return err
}

// Name is the name of the policy, "" if the limiter has none.
func (o *observed) Name() string {
	if named, ok := o.Limiter.(interface{ Name() string }); ok {
		return named.Name()
	}
	return ""
}

func (o *observed) tell(ctx context.Context, c Cost, r Result) {
	if o.observer.Decided != nil {
		o.observer.Decided(ctx, c, r)
	}
}

// bare is the limiter itself, without those who observe it.
func bare(l Limiter) Limiter {
	for {
		o, ok := l.(*observed)
		if !ok {
			return l
		}
		l = o.Limiter
	}
}

// tell tells all who observe l.
func tell(ctx context.Context, l Limiter, c Cost, r Result) {
	for {
		o, ok := l.(*observed)
		if !ok {
			return
		}
		o.tell(ctx, c, r)
		l = o.Limiter
	}
}
