// Package prom shows Prometheus what limiters decide:
//
//	weir_decisions_total{limit="api",outcome="deny"}
//	weir_waits_total{limit="api",result="done"}        or failed
//	weir_wait_seconds_total{limit="api"}
//
// The limits' names are the only labels that a program chooses. Keys are none.
package prom

import (
	"fmt"
	"maps"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"weir/observe"
)

var (
	decisions = prometheus.NewDesc("weir_decisions_total", "Decisions by outcome.", []string{"limit", "outcome"}, nil)
	waits     = prometheus.NewDesc("weir_waits_total", "Waits that ended, done or failed.", []string{"limit", "result"}, nil)
	waited    = prometheus.NewDesc("weir_wait_seconds_total", "How long waits took together.", []string{"limit"}, nil)
)

type collector map[string]*observe.Counts

// NewCollector is a collector of the counts of limits by name. It costs the limits nothing: they are read when Prometheus
// asks. Register one for all limits of a program. The error names a limit whose counts are nil or whose name is not UTF-8.
func NewCollector(limits map[string]*observe.Counts) (prometheus.Collector, error) {
	for name, counts := range limits {
		switch {
		case counts == nil:
			return nil, fmt.Errorf("prom: the counts of limit %q are nil", name)
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("prom: the name %q of a limit is not UTF-8", name)
		}
	}
	return collector(maps.Clone(limits)), nil
}

// Describe is prometheus.Collector's.
func (collector) Describe(to chan<- *prometheus.Desc) {
	to <- decisions
	to <- waits
	to <- waited
}

// Collect is prometheus.Collector's.
func (c collector) Collect(to chan<- prometheus.Metric) {
	for name, counts := range c {
		r := counts.Read()
		r.Outcomes(func(outcome string, n uint64) { to <- counter(decisions, float64(n), name, outcome) })
		to <- counter(waits, float64(r.Waits), name, "done")
		to <- counter(waits, float64(r.WaitsFailed), name, "failed")
		to <- counter(waited, r.Waited.Seconds(), name)
	}
}

// counter is a metric; Prometheus has floats alone, and nothing is decided by it.
func counter(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...) // names were checked
}
