// Package chart draws what weir simulate has found, as SVG, with gonum's plot. What plot draws in a role's colour is given
// the role's CSS variable afterwards, so that one picture is right on a dark page, on a light one and on paper; and over
// what it draws lie transparent marks whose titles tell the numbers under the pointer.
//
// Nothing in a picture is told by colour alone: what was refused is hatched, lines differ in dashes.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"math"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Drawing is one picture: what stands between <svg> and </svg>, for a view of Width by Height.
type Drawing struct {
	Width, Height float64
	body          string
	about         string
}

// The size of a drawing, in points: two stand side by side on a page of usual width, one on a phone.
const (
	width  = 430
	height = 210
)

// role is what a colour stands for. Each has a colour of its own, which nothing else has, to be found by.
type role struct {
	mark  color.RGBA
	paint string // what it is given instead
}

var (
	ink     = role{color.RGBA{1, 2, 3, 255}, "var(--weir-ink)"}
	faint   = role{color.RGBA{4, 5, 6, 255}, "var(--weir-faint)"}
	allowed = role{color.RGBA{7, 8, 9, 255}, "var(--weir-allowed)"}
	refused = role{color.RGBA{10, 11, 12, 255}, "url(#weir-refused)"}
	bound   = role{color.RGBA{13, 14, 15, 255}, "var(--weir-bound)"}
	edge    = role{color.RGBA{16, 17, 18, 255}, "var(--weir-refused)"}
)

// styles are the attributes in which paints stands. Text cannot look like one: its quotes are escaped.
var styles = regexp.MustCompile(`style="[^"]*"`)

// paints replaces the marks of roles by what they stand for, and the face that plot has measured by one that is there.
var paints = func() *strings.Replacer {
	pairs := []string{"Liberation Sans", "Liberation Sans,Arial,sans-serif"}
	for _, r := range []role{ink, faint, allowed, refused, bound, edge} {
		pairs = append(pairs, fmt.Sprintf("#%02X%02X%02X", r.mark.R, r.mark.G, r.mark.B), r.paint)
	}
	return strings.NewReplacer(pairs...)
}()

// Style is the variables of the pictures, dark and light; the colours are Okabe and Ito's blue and vermilion, which every kind
// of colour vision tells apart, each light or dark enough on its ground.
const Style = `:root{--weir-ink:#1b1f24;--weir-faint:#c9ced6;--weir-ground:#fff;--weir-allowed:#0072b2;--weir-refused:#d55e00;--weir-bound:#1b1f24}
@media (prefers-color-scheme:dark){:root{--weir-ink:#e6e8eb;--weir-faint:#3c424b;--weir-ground:#14171b;--weir-allowed:#56b4e9;--weir-refused:#ff9a4d;--weir-bound:#e6e8eb}}
@media print{:root{--weir-ink:#000;--weir-faint:#bbb;--weir-ground:#fff;--weir-allowed:#777;--weir-refused:#000;--weir-bound:#000}}`

// Patterns is the hatching that the pictures refer to: once a page, inside any svg element.
const Patterns = `<defs><pattern id="weir-refused" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
	`<rect width="4" height="4" fill="var(--weir-ground)"/><rect width="2.2" height="4" fill="var(--weir-refused)"/></pattern></defs>`

// newPlot is a plot without a ground of its own.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(4)
	texts := []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
		&p.Legend.TextStyle}
	for i, s := range texts {
		s.Font.Variant, s.Font.Size, s.Color = "Sans", vg.Points(11), ink.mark
		if i == 0 {
			s.Font.Size, s.Font.Weight = vg.Points(11.5), 2
		}
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink.mark, ink.mark
		a.Padding = 0
	}
	p.Y.Min = 0
	return p
}

// hit is a mark with a title over what plot has drawn: from x0 to x1 over the whole height, in the plot's own units.
type hit struct {
	x0, x1, y0, y1 float64
	title          string
}

// render draws a plot, and hits over it.
func render(p *plot.Plot, w, h float64, about string, hits []hit) (Drawing, error) {
	canvas := vgsvg.New(vg.Points(w), vg.Points(h))
	area := draw.Crop(draw.New(canvas), 4, -10, 4, -4)
	p.Draw(area)
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return Drawing{}, err
	}
	data := p.DataCanvas(area)
	_, body, _ := strings.Cut(out.String(), "<svg")
	_, body, _ = strings.Cut(body, ">")
	body = styles.ReplaceAllStringFunc(strings.TrimSuffix(strings.TrimSpace(body), "</svg>"), paints.Replace)
	var b strings.Builder
	b.WriteString(body)
	b.WriteString(`<g fill="transparent">`)
	toX, toY := p.Transforms(&data)
	for _, m := range hits {
		left, right := toX(m.x0).Points(), toX(m.x1).Points()
		top, bottom := h-toY(m.y1).Points(), h-toY(m.y0).Points()
		fmt.Fprintf(&b, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f"><title>%s</title></rect>`+"\n",
			left, top, math.Max(0, right-left), math.Max(0, bottom-top), html.EscapeString(m.title))
	}
	b.WriteString("</g>")
	return Drawing{w, h, b.String(), about}, nil
}

// Element is the drawing as an svg element for a page that holds Style and Patterns.
func (d Drawing) Element() string {
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s">%s</svg>`, d.Width, d.Height, html.EscapeString(d.about), d.body)
}

// Sheet is one SVG document of rows of drawings, under a title.
func Sheet(title string, rows [][]Drawing) []byte {
	const gap, head = 10.0, 30.0
	var b bytes.Buffer
	right, y := 0.0, head
	for _, row := range rows {
		x, tallest := gap, 0.0
		for _, d := range row {
			fmt.Fprintf(&b, `<svg x="%g" y="%g" width="%g" height="%g" viewBox="0 0 %g %g">%s</svg>`+"\n", x, y, d.Width, d.Height, d.Width, d.Height, d.body)
			x, tallest = x+d.Width+gap, math.Max(tallest, d.Height)
		}
		right, y = math.Max(right, x), y+tallest+gap
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g">`+"\n<title>%s</title>\n<style>%s</style>\n%s\n"+
		`<rect width="100%%" height="100%%" fill="var(--weir-ground)"/><text x="%g" y="20" font-family="sans-serif" font-size="14" fill="var(--weir-ink)">%s</text>`+"\n%s</svg>\n",
		right, y, right, y, html.EscapeString(title), Style, Patterns, gap, html.EscapeString(title), b.String())
}
