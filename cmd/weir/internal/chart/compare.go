package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Row is one policy in a comparison.
type Row struct {
	Policy           string
	Allowed, Refused uint64
	// Most is the busiest window of any key, Permits what the limit says, and Upper the most that the policy may let through
	// in one.
	Most, Permits, Upper uint64
}

// tall is the height of a comparison.
func tall(rows []Row) float64 { return 68 + 25*float64(len(rows)) }

// sideways is a plot with a row for each policy, the first on top.
func sideways(title, x string, rows []Row, note func(Row) string) *plot.Plot {
	p := newPlot(title, x, "")
	labels := make([]string, len(rows))
	for i, r := range rows {
		labels[len(rows)-1-i] = r.Policy + "  " + note(r)
	}
	p.NominalY(labels...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
	p.X.Min = 0
	p.X.Padding = vg.Points(2)
	return p
}

func sidewaysBars(rows []Row, of func(Row) uint64, r role) (*plotter.BarChart, error) {
	v := make(plotter.Values, len(rows))
	for i, row := range rows {
		v[len(rows)-1-i] = float64(of(row))
	}
	bars, err := plotter.NewBarChart(v, vg.Points(13))
	if err != nil {
		return nil, err
	}
	bars.Horizontal, bars.Color = true, r.mark
	bars.LineStyle = draw.LineStyle{Color: edge.mark, Width: 0}
	return bars, nil
}

// across is the hit over the row of a policy.
func across(rows []Row, i int, end float64, title string) hit {
	y := float64(len(rows) - 1 - i)
	return hit{0, end, y - 0.4, y + 0.4, rows[i].Policy + ": " + title}
}

func crosswise(p *plot.Plot, highest uint64) {
	p.X.Max = math.Max(1, float64(highest)) * 1.04
	p.X.Tick.Marker = plot.TickerFunc(wholes)
}

// Shares is how many requests each policy let through and how many it refused.
func Shares(rows []Row) (Drawing, error) {
	p := sideways("Requests let through, and refused", "requests", rows, func(r Row) string { return Grouped(r.Refused) + " refused" })
	below, err := sidewaysBars(rows, func(r Row) uint64 { return r.Allowed }, allowed)
	if err != nil {
		return Drawing{}, err
	}
	above, err := sidewaysBars(rows, func(r Row) uint64 { return r.Refused }, refused)
	if err != nil {
		return Drawing{}, err
	}
	above.LineStyle.Width = vg.Points(0.4)
	above.StackOn(below)
	p.Add(below, above)
	highest := uint64(0)
	for _, r := range rows {
		highest = max(highest, r.Allowed+r.Refused)
	}
	crosswise(p, highest)
	var hits []hit
	for i, r := range rows {
		hits = append(hits, across(rows, i, p.X.Max, fmt.Sprintf("%s let through, %s refused", Grouped(r.Allowed), Grouped(r.Refused))))
	}
	return render(p, width, tall(rows), "requests let through and refused by policy", hits)
}

// Busiest is the busiest window of any key under each policy; beyond the permits of the limit it is hatched.
func Busiest(rows []Row, period string) (Drawing, error) {
	p := sideways("The busiest "+period+" of any key", "permits; hatched: beyond the limit's", rows, func(r Row) string { return Grouped(r.Most) })
	within, err := sidewaysBars(rows, func(r Row) uint64 { return min(r.Most, r.Permits) }, allowed)
	if err != nil {
		return Drawing{}, err
	}
	beyond, err := sidewaysBars(rows, func(r Row) uint64 { return r.Most - min(r.Most, r.Permits) }, refused)
	if err != nil {
		return Drawing{}, err
	}
	beyond.LineStyle.Width = vg.Points(0.4)
	beyond.StackOn(within)
	p.Add(within, beyond)
	highest := uint64(0)
	for _, r := range rows {
		highest = max(highest, r.Most, r.Permits, r.Upper)
	}
	if err := uprights(p, rows); err != nil {
		return Drawing{}, err
	}
	crosswise(p, highest)
	var hits []hit
	for i, r := range rows {
		hits = append(hits, across(rows, i, p.X.Max, fmt.Sprintf("%s in %s; permits %s, at most %s", Grouped(r.Most), period, Grouped(r.Permits), Grouped(r.Upper))))
	}
	return render(p, width, tall(rows), "the busiest window of any key by policy", hits)
}

// uprights mark, across the row of each policy, the most that it may let through in a window.
func uprights(p *plot.Plot, rows []Row) error {
	for i, r := range slices.Backward(rows) {
		y := float64(len(rows) - 1 - i)
		line, err := plotter.NewLine(plotter.XYs{{X: float64(r.Upper), Y: y - 0.42}, {X: float64(r.Upper), Y: y + 0.42}})
		if err != nil {
			return err
		}
		line.LineStyle = draw.LineStyle{Color: bound.mark, Width: vg.Points(1.6)}
		p.Add(line)
	}
	return nil
}
