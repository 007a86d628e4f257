package chart

import (
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bins are the time that a picture shows: Count lengths of Width from Start on, since the first line of the log.
type Bins struct {
	Start, Width time.Duration
	Count        int
}

// long is about how long a bin is.
func (b Bins) long() string {
	for _, unit := range []time.Duration{time.Minute, time.Second, time.Millisecond} {
		if b.Width >= 10*unit {
			return Span(b.Width.Round(unit))
		}
	}
	return Span(b.Width)
}

func (b Bins) span(i int) string {
	from := b.Start + time.Duration(i)*b.Width
	return Span(from.Round(time.Millisecond)) + " to " + Span((from + b.Width).Round(time.Millisecond))
}

// axis makes a plot's horizontal axis that of the bins: bin i is from i-1/2 to i+1/2.
func (b Bins) axis(p *plot.Plot) {
	p.X.Min, p.X.Max = -0.5, float64(b.Count)-0.5
	p.X.Tick.Marker = plot.TickerFunc(b.ticks)
	p.X.Padding = 0
}

func (b Bins) hit(i int, top float64, title string) hit {
	return hit{float64(i) - 0.5, float64(i) + 0.5, 0, top, b.span(i) + ": " + title}
}

// ceiling sets the vertical axis: from 0 to what is highest, and room for some lines of legend above it.
func ceiling(p *plot.Plot, highest uint64, lines int) {
	p.Y.Max = float64(max(1, highest)) * (1.05 + 0.16*float64(lines))
	p.Y.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		return wholes(low, float64(max(1, highest))*1.05)
	})
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(2)
	p.Legend.ThumbnailWidth = vg.Points(22)
}

func values(numbers []uint64) plotter.Values {
	v := make(plotter.Values, len(numbers))
	for i, n := range numbers {
		v[i] = float64(n)
	}
	return v
}

// barWidth fills a bin, less the room that the vertical axis takes; a wider bar than its part of the plot would break the layout.
func (b Bins) barWidth() vg.Length { return vg.Points((width - 50) / float64(max(20, b.Count))) }

// Requests is the requests of a log over time: below what a policy let through, above it what it refused. highest is the most in
// any bin of any picture that is to be compared.
func Requests(policy string, b Bins, through, not []uint64, highest uint64) (Drawing, error) {
	p := newPlot(policy+": requests let through, and refused", "", "in "+b.long())
	b.axis(p)
	below, err := plotter.NewBarChart(values(through), b.barWidth())
	if err != nil {
		return Drawing{}, err
	}
	above, err := plotter.NewBarChart(values(not), b.barWidth())
	if err != nil {
		return Drawing{}, err
	}
	below.Color, above.Color = allowed.mark, refused.mark
	below.LineStyle.Width, above.LineStyle.Width = 0, vg.Points(0.4)
	above.LineStyle.Color = edge.mark
	above.StackOn(below)
	p.Add(below, above)
	ceiling(p, highest, 0)
	var hits []hit
	for i := range through {
		hits = append(hits, b.hit(i, p.Y.Max, fmt.Sprintf("%s let through, %s refused", Grouped(through[i]), Grouped(not[i]))))
	}
	return render(p, width, height, policy+": requests over time", hits)
}

// dashes tell lines apart without colour.
var dashes = []draw.LineStyle{
	{Color: allowed.mark, Width: vg.Points(1.8)},
	{Color: edge.mark, Width: vg.Points(1.4), Dashes: []vg.Length{vg.Points(4), vg.Points(2)}},
	{Color: ink.mark, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(1), vg.Points(1.5)}},
}

// MostLines is how many lines a picture holds that can be told apart.
const MostLines = 3

// Levels is how many permits some keys, at most MostLines, have spent and not got back over time, against the burst.
func Levels(policy string, b Bins, names []string, levels [][]uint64, burst uint64) (Drawing, error) {
	p := newPlot(policy+": level of the keys refused most", "", "permits spent")
	b.axis(p)
	highest := burst
	for i, level := range levels {
		line, err := steps(level, dashes[i%len(dashes)])
		if err != nil {
			return Drawing{}, err
		}
		highest = max(highest, slices.Max(level))
		p.Add(line)
		p.Legend.Add(names[i], line)
	}
	if err := rule(p, b, float64(burst), "burst "+Grouped(burst)); err != nil {
		return Drawing{}, err
	}
	ceiling(p, highest, len(names)+1)
	var hits []hit
	for i := range b.Count {
		title := ""
		for k, level := range levels {
			title += fmt.Sprintf("%s %s of %s; ", names[k], Grouped(level[i]), Grouped(burst))
		}
		if title != "" {
			hits = append(hits, b.hit(i, p.Y.Max, title[:len(title)-2]))
		}
	}
	return render(p, width, height, policy+": level of the worst keys against the burst", hits)
}

// steps is a line that keeps each number for the length of its bin.
func steps(numbers []uint64, style draw.LineStyle) (*plotter.Line, error) {
	points := make(plotter.XYs, 0, len(numbers)+1)
	for i, n := range numbers {
		points = append(points, plotter.XY{X: float64(i) - 0.5, Y: float64(n)})
	}
	points = append(points, plotter.XY{X: float64(len(numbers)) - 0.5, Y: float64(numbers[len(numbers)-1])})
	line, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	line.StepStyle, line.LineStyle = plotter.PostStep, style
	return line, nil
}

// rule is a line across a plot, with a name in the legend.
func rule(p *plot.Plot, b Bins, at float64, name string) error {
	line, err := plotter.NewLine(plotter.XYs{{X: -0.5, Y: at}, {X: float64(b.Count) - 0.5, Y: at}})
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: bound.mark, Width: vg.Points(0.9), Dashes: []vg.Length{vg.Points(7), vg.Points(3)}}
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

// Windows is the most that any key was let through within one period, over time, against the permits and against what the
// policy may let through: burst + rate * window, or the permits again.
func Windows(policy, period string, b Bins, most []uint64, permits, upper, highest uint64) (Drawing, error) {
	p := newPlot(policy+": the busiest "+period+" of any key", "", "permits")
	b.axis(p)
	bars, err := plotter.NewBarChart(values(most), b.barWidth())
	if err != nil {
		return Drawing{}, err
	}
	bars.Color, bars.LineStyle.Width = allowed.mark, 0
	p.Add(bars)
	if err := rule(p, b, float64(permits), "permits "+Grouped(permits)); err != nil {
		return Drawing{}, err
	}
	if upper != permits {
		if err := rule(p, b, float64(upper), "at most "+Grouped(upper)); err != nil {
			return Drawing{}, err
		}
	}
	ceiling(p, max(highest, upper), 2)
	var hits []hit
	for i := range most {
		hits = append(hits, b.hit(i, p.Y.Max, fmt.Sprintf("%s in %s; permits %s, at most %s", Grouped(most[i]), period, Grouped(permits), Grouped(upper))))
	}
	return render(p, width, height, policy+": the busiest window of any key", hits)
}
