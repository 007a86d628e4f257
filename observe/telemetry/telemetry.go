// Package telemetry shows OpenTelemetry what limiters decide:
//
//	weir.decisions      {limit, outcome}   decisions
//	weir.waits          {limit, result}    waits that ended, done or failed
//	weir.wait.duration  {limit}            how long waits took together, in seconds
//
// The limits' names are the only attributes that a program chooses. Keys are none.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"weir/observe"
)

// Register has a meter read the counts of limits by name whenever it collects. It costs the limits nothing. Unregister the
// registration to end that. The error names a limit whose counts are nil, says that the meter is nil, or is the meter's.
func Register(meter metric.Meter, limits map[string]*observe.Counts) (metric.Registration, error) {
	if meter == nil {
		return nil, errors.New("telemetry: the meter is nil")
	}
	for name, counts := range limits {
		if counts == nil {
			return nil, fmt.Errorf("telemetry: the counts of limit %q are nil", name)
		}
	}
	limits = maps.Clone(limits)
	decisions, err := meter.Int64ObservableCounter("weir.decisions", metric.WithDescription("Decisions by outcome."), metric.WithUnit("{decision}"))
	if err != nil {
		return nil, err
	}
	waits, err := meter.Int64ObservableCounter("weir.waits", metric.WithDescription("Waits that ended, done or failed."), metric.WithUnit("{wait}"))
	if err != nil {
		return nil, err
	}
	waited, err := meter.Float64ObservableCounter("weir.wait.duration", metric.WithDescription("How long waits took together."), metric.WithUnit("s"))
	if err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, counts := range limits {
			r, limit := counts.Read(), attribute.String("limit", name)
			r.Outcomes(func(outcome string, n uint64) {
				o.ObserveInt64(decisions, int64(n), metric.WithAttributes(limit, attribute.String("outcome", outcome)))
			})
			o.ObserveInt64(waits, int64(r.Waits), metric.WithAttributes(limit, attribute.String("result", "done")))
			o.ObserveInt64(waits, int64(r.WaitsFailed), metric.WithAttributes(limit, attribute.String("result", "failed")))
			o.ObserveFloat64(waited, r.Waited.Seconds(), metric.WithAttributes(limit))
		}
		return nil
	}, decisions, waits, waited)
}
