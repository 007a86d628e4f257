package speed

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// point is ns a decision at so many keys.
type point struct {
	keys int
	ns   float64
}

type points []point

// Len and XY make points what plotter draws.
func (p points) Len() int                { return len(p) }
func (p points) XY(i int) (x, y float64) { return float64(p[i].keys), p[i].ns }

type curve struct {
	name string
	at   points
}

// bar is one row of the picture of rivals.
type bar struct {
	name string
	ns   float64
}

// bars are the rows by their medians, the fastest last, since the picture is drawn from below.
func bars(s samples, names []string) []bar {
	var out []bar
	for _, name := range names {
		if len(s[name]) > 0 {
			out = append(out, bar{name, median(s[name])})
		}
	}
	slices.SortFunc(out, func(a, b bar) int { return int(b.ns) - int(a.ns) })
	return out
}

var (
	blue = color.RGBA{0x1f, 0x5f, 0x9f, 0xff}
	grey = color.RGBA{0xa0, 0xa8, 0xb0, 0xff}
	red  = color.RGBA{0xb0, 0x40, 0x30, 0xff}
)

// drawBars is the picture of rivals, as SVG.
func drawBars(all []bar) ([]byte, error) {
	p := newPlot("A million random keys, strings, each with its own clock")
	p.X.Label.Text, p.X.Min = "ns a decision", 0
	labels := make([]string, len(all))
	for i, b := range all {
		values := make(plotter.Values, len(all))
		values[i] = b.ns
		chart, err := plotter.NewBarChart(values, vg.Points(12))
		if err != nil {
			return nil, err
		}
		chart.Horizontal, chart.Color, chart.LineStyle.Width = true, grey, 0
		if b.name == ownRow {
			chart.Color = blue
		}
		p.Add(chart)
		labels[i] = fmt.Sprintf("%s  %s", b.name, number(b.ns))
	}
	p.NominalY(labels...)
	return svg(p, vg.Points(560), vg.Points(60+22*float64(len(all))))
}

// drawCurves is the picture of cost by number of keys, both axes by factors of ten.
func drawCurves(all []curve) ([]byte, error) {
	p := newPlot("A decision on a random key, by how many keys are live")
	p.X.Label.Text, p.Y.Label.Text = "keys", "ns a decision"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(powers), plot.TickerFunc(powers)
	p.Legend.Top, p.Legend.Left = true, true
	low, high := math.Inf(1), 0.0
	for i, c := range all {
		if len(c.at) == 0 {
			continue
		}
		l, dots, err := plotter.NewLinePoints(c.at)
		if err != nil {
			return nil, err
		}
		l.Color, l.Width = []color.Color{red, blue, grey}[i%3], vg.Points(1.6)
		dots.Color, dots.Shape = l.Color, draw.CircleGlyph{}
		p.Add(l, dots)
		p.Legend.Add(c.name, l, dots)
		for _, at := range c.at {
			low, high = min(low, at.ns), max(high, at.ns)
		}
	}
	p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	return svg(p, vg.Points(560), vg.Points(320))
}

// powers are ticks at 1, 10, 100 and so on.
func powers(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for v := 1.0; v <= high; v *= 10 {
		if v >= low {
			ticks = append(ticks, plot.Tick{Value: v, Label: grouped(int(v))})
		}
	}
	return ticks
}

// grouped is a number with a comma between each three digits.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// newPlot is a plot on white, so that it can be read on a dark page too.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.BackgroundColor = title, color.White
	p.Title.Padding = vg.Points(8)
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
		&p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	return p
}

// margin is what labels may stand out by.
const margin = vg.Length(14)

func svg(p *plot.Plot, width, height vg.Length) ([]byte, error) {
	c := vgsvg.New(width, height)
	p.Draw(draw.Crop(draw.New(c), margin, -margin, margin, -margin))
	var out bytes.Buffer
	_, err := c.WriteTo(&out)
	return out.Bytes(), err
}
