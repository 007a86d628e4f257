package prom_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/observe"
	"weir/observe/prom"
)

// What Prometheus reads is what was decided.
func TestCollector(t *testing.T) {
	ctx := context.Background()
	var api, quiet observe.Counts
	l, err := weir.New("gcra", weir.Per(2, time.Hour))
	require.NoError(t, err)
	o := weir.Observed(l, api.Observer())
	for range 5 {
		o.Allow(ctx, "secret")
	}
	require.Error(t, o.Wait(ctx, "secret", weir.N(3)))
	api.Observer().Waited(ctx, weir.N(1), 1500*time.Millisecond, nil)
	c, err := prom.NewCollector(map[string]*observe.Counts{"api": &api, "quiet": &quiet})
	require.NoError(t, err)
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	families, err := registry.Gather()
	require.NoError(t, err)
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			got[f.GetName()+" "+strings.Join(labels, " ")] = m.GetCounter().GetValue()
		}
	}
	assert.Len(t, got, 2*(6+2+1))
	for name, want := range map[string]float64{
		"weir_decisions_total api allow": 2, "weir_decisions_total api deny": 3, "weir_decisions_total api full": 0,
		"weir_decisions_total quiet allow": 0, "weir_waits_total api done": 1, "weir_waits_total api failed": 1,
	} {
		assert.Equal(t, want, got[name], name)
	}
	assert.GreaterOrEqual(t, got["weir_wait_seconds_total api"], 1.5)
	problems, err := testutil.CollectAndLint(c)
	require.NoError(t, err)
	assert.Empty(t, problems)
}

func TestRefuses(t *testing.T) {
	_, err := prom.NewCollector(map[string]*observe.Counts{"a": nil})
	assert.ErrorContains(t, err, `limit "a" are nil`)
	_, err = prom.NewCollector(map[string]*observe.Counts{"\xff": new(observe.Counts)})
	assert.ErrorContains(t, err, "is not UTF-8")
}
