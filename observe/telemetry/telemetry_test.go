package telemetry_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"weir"
	"weir/observe"
	"weir/observe/telemetry"
)

// values is what a reader collects: name and attributes, and the number.
func values(t *testing.T, reader metric.Reader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &all))
	got := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch sum := m.Data.(type) {
			case metricdata.Sum[int64]:
				assert.True(t, sum.IsMonotonic)
				for _, p := range sum.DataPoints {
					got[m.Name+" "+text(p.Attributes)] = float64(p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range sum.DataPoints {
					got[m.Name+" "+text(p.Attributes)] = p.Value
				}
			}
		}
	}
	return got
}

func text(set attribute.Set) string {
	var words []string
	for _, a := range set.ToSlice() {
		words = append(words, a.Value.AsString())
	}
	return strings.Join(words, " ")
}

// What OpenTelemetry's own SDK collects is what was decided, until the registration ends.
func TestRegister(t *testing.T) {
	ctx := context.Background()
	var api observe.Counts
	l, err := weir.New("gcra", weir.Per(2, time.Hour))
	require.NoError(t, err)
	o := weir.Observed(l, api.Observer())
	reader := metric.NewManualReader()
	meter := metric.NewMeterProvider(metric.WithReader(reader)).Meter("weir")
	registration, err := telemetry.Register(meter, map[string]*observe.Counts{"api": &api})
	require.NoError(t, err)
	for range 5 {
		o.Allow(ctx, "secret")
	}
	api.Observer().Waited(ctx, weir.N(1), 1500*time.Millisecond, nil)
	got := values(t, reader)
	assert.Len(t, got, 6+2+1)
	for name, want := range map[string]float64{
		"weir.decisions api allow": 2, "weir.decisions api deny": 3, "weir.decisions api full": 0,
		"weir.waits api done": 1, "weir.waits api failed": 0, "weir.wait.duration api": 1.5,
	} {
		assert.Equal(t, want, got[name], name)
	}
	require.NoError(t, registration.Unregister())
	assert.Empty(t, values(t, reader))
}

func TestRefuses(t *testing.T) {
	_, err := telemetry.Register(nil, nil)
	assert.ErrorContains(t, err, "the meter is nil")
	meter := metric.NewMeterProvider().Meter("weir")
	_, err = telemetry.Register(meter, map[string]*observe.Counts{"a": nil})
	assert.ErrorContains(t, err, `limit "a" are nil`)
}
