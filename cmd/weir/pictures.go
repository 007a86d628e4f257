package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"slices"
	"strings"
	"time"

	"weir"
	"weir/cmd/weir/internal/accesslog"
	"weir/cmd/weir/internal/chart"
	"weir/cmd/weir/internal/replay"
	"weir/policy"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the page shows.
type page struct {
	Title, About string
	Style        template.CSS
	Patterns     template.HTML
	Odd          []string
	Heads        []string
	Rows         [][]string
	Compare      []template.HTML
	Policies     []pagePolicy
	Worst        [][]string
}

type pagePolicy struct {
	Name, About string
	Pictures    []template.HTML
}

// draw writes the pictures that were asked for. It reads the log again: only now is it known whom to look at and when.
func (s *simulation) draw(a app) error {
	if !s.pictures() {
		return nil
	}
	series, err := s.run.Redraw(chart.MostLines, func(add func(time.Duration, []byte, uint64)) error {
		_, err := s.logs.read(a, "simulate: pictures", func(r accesslog.Record) { add(r.At, r.Key, r.Cost) })
		return err
	})
	if err != nil && (len(series) == 0 || a.ctx.Err() != nil) {
		return err // that the log breaks off has been told already
	}
	compare, err := s.compare()
	if err != nil {
		return err
	}
	var cards [][]chart.Drawing
	for i, t := range s.run.Trials {
		card, err := s.panels(t, series[i], series)
		if err != nil {
			return err
		}
		cards = append(cards, card)
	}
	if s.svg != "" {
		if err := os.WriteFile(s.svg, chart.Sheet(s.title(), append([][]chart.Drawing{compare}, cards...)), 0o644); err != nil {
			return fmt.Errorf("svg: %w", err)
		}
	}
	if s.html == "" {
		return nil
	}
	return s.writePage(compare, cards)
}

func (s *simulation) title() string {
	return fmt.Sprintf("limit %s over %s requests of %s keys", s.run.Limit, grouped(s.run.Total), grouped(uint64(len(s.run.Names))))
}

func (s *simulation) compare() ([]chart.Drawing, error) {
	var rows []chart.Row
	for _, t := range s.run.Trials {
		most, _ := t.Most()
		rows = append(rows, chart.Row{Policy: t.Name, Allowed: t.Counts[policy.Allow], Refused: refused(t), Most: most,
			Permits: t.Limit.Permits, Upper: t.Bound()})
	}
	shares, err := chart.Shares(rows)
	if err != nil {
		return nil, err
	}
	busiest, err := chart.Busiest(rows, periodOf(s.run.Limit))
	return []chart.Drawing{shares, busiest}, err
}

func refused(t *replay.Trial) uint64 { return t.Counts[policy.Deny] + t.Counts[policy.TooCostly] }

// panels are the pictures of one policy, to the scale of all of them.
func (s *simulation) panels(t *replay.Trial, own *replay.Series, all []*replay.Series) ([]chart.Drawing, error) {
	highest, busiest := uint64(0), uint64(0)
	for i, series := range all {
		for b := range series.Allowed {
			highest = max(highest, series.Allowed[b]+series.Refused[b])
		}
		busiest = max(busiest, slices.Max(series.Most), s.run.Trials[i].Bound())
	}
	bins := chart.Bins{Start: own.Start, Width: own.Width, Count: replay.Bins}
	var keys []string
	for _, id := range own.Keys {
		keys = append(keys, shown(s.run.Names[id]))
	}
	requests, err := chart.Requests(t.Name, bins, own.Allowed, own.Refused, highest)
	if err != nil {
		return nil, err
	}
	windows, err := chart.Windows(t.Name, periodOf(s.run.Limit), bins, own.Most, t.Limit.Permits, t.Bound(), busiest)
	if err != nil {
		return nil, err
	}
	levels, err := chart.Levels(t.Name, bins, keys, own.Levels, t.Burst())
	return []chart.Drawing{requests, windows, levels}, err
}

func (s *simulation) writePage(compare []chart.Drawing, cards [][]chart.Drawing) error {
	table := s.table()
	p := page{Title: "weir simulate: " + s.title(), About: s.about(), Style: template.CSS(chart.Style),
		Patterns: template.HTML(chart.Patterns), Odd: s.oddities(), Heads: table[0], Rows: table[1:], Compare: elements(compare)}
	for i, t := range s.run.Trials {
		page, err := weir.Describe(t.Name)
		if err != nil {
			return err
		}
		p.Policies = append(p.Policies, pagePolicy{t.Name, firstSentence(t.Name, page), elements(cards[i])})
	}
	p.Worst = s.worstRows()
	var b strings.Builder
	if err := pageTemplate.Execute(&b, p); err != nil {
		return fmt.Errorf("html: %w", err)
	}
	if err := os.WriteFile(s.html, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("html: %w", err)
	}
	return nil
}

// elements are pictures whose texts package chart has escaped.
func elements(all []chart.Drawing) (out []template.HTML) {
	for _, d := range all {
		out = append(out, template.HTML(d.Element()))
	}
	return out
}
