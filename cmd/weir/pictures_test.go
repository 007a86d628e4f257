package main_test

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile is what strangers might have a server log, to have it run where a person looks at it. The first three are refused
// most, and so are in the pictures.
var hostile = []string{`<script>document.title="taken"</script>`, `style="fill:#070809"`, `</title></svg><b>`, `"><img src=x onerror=alert(1)>`,
	`{{.Title}}`, "\x1b[31m", `#010203 fill:#0A0B0C`}

// pictureLog is a CSV in which some keys ask too often, each in its own way.
func pictureLog() string {
	var b strings.Builder
	b.WriteString("time,key,cost\n")
	quoted := func(key string) string { return `"` + strings.ReplaceAll(key, `"`, `""`) + `"` }
	for second := range 600 {
		for i, key := range hostile {
			for range 1 + second%(9-i) {
				fmt.Fprintf(&b, "%d,%s,1\n", second, quoted(key))
			}
		}
		fmt.Fprintf(&b, "%d,calm-%d,1\n", second, second%50)
		if second%100 == 0 {
			fmt.Fprintf(&b, "%d,costly,99\n", second)
		}
	}
	return b.String()
}

// drawnPage is the page and the sheet of that log, and what the command wrote besides.
func drawnPage(t *testing.T) (page, sheet, out string) {
	t.Helper()
	dir := t.TempDir()
	page, sheet = filepath.Join(dir, "page.html"), filepath.Join(dir, "sheet.svg")
	status, out, errs := weirWith(t, pictureLog(), "simulate", "--limit", "20/10s burst 12 & 100/m burst 80", "--log", "-", "--format", "csv", "--worst", "10",
		"--html", page, "--svg", sheet)
	require.Equal(t, 0, status, errs)
	require.Empty(t, errs)
	return page, sheet, out
}

var (
	titles  = regexp.MustCompile(`<title>([^<]*)</title>`)
	through = regexp.MustCompile(`: ([0-9,]+) let through, ([0-9,]+) refused$`)
	windows = regexp.MustCompile(`: ([0-9,]+) in 10s; permits ([0-9,]+), at most ([0-9,]+)$`)
)

func number(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
	require.NoError(t, err)
	return n
}

// checkPage holds the figures in the pictures of a page to those of the table that the command wrote.
func checkPage(t *testing.T, html, out string) {
	t.Helper()
	overview := html[strings.Index(html, `id="overview"`):strings.Index(html, `<section id="gcra"`)]
	for _, policy := range []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"} {
		row := cells(t, out, policy)
		allowed, refused := number(t, row[1]), number(t, row[2])+number(t, row[3])
		most, atMost := number(t, row[6]), number(t, row[7])
		assert.Contains(t, overview, fmt.Sprintf("<title>%s: %s let through, %s refused</title>", policy, row[1], group(refused)))
		assert.Contains(t, overview, fmt.Sprintf("<title>%s: %s in 10s; permits 20, at most %s</title>", policy, row[6], row[7]))

		_, card, found := strings.Cut(html, `<section id="`+policy+`"`)
		require.True(t, found, policy)
		card, _, _ = strings.Cut(card, "</section>")
		var sums [2]uint64
		highest, bins := uint64(0), 0
		for _, title := range titles.FindAllStringSubmatch(card, -1) {
			if m := through.FindStringSubmatch(title[1]); m != nil {
				sums[0] += number(t, m[1])
				sums[1] += number(t, m[2])
				bins++
			}
			if m := windows.FindStringSubmatch(title[1]); m != nil {
				highest = max(highest, number(t, m[1]))
				assert.Equal(t, atMost, number(t, m[3]))
			}
		}
		assert.Equal(t, 96, bins, policy)
		assert.Equal(t, [2]uint64{allowed, refused}, sums, policy)
		assert.Equal(t, most, highest, policy)
		assert.Regexp(t, `<td>`+policy+`</td>\s*<td>`+row[0]+`</td>\s*<td>`+row[1]+`</td>\s*<td>`+row[2]+`</td>`, html)
	}
}

func group(n uint64) string {
	text := strconv.FormatUint(n, 10)
	if len(text) > 3 {
		text = text[:len(text)-3] + "," + text[len(text)-3:]
	}
	return text
}

// TestPage: the page's figures are the table's, it asks for nothing from elsewhere, and what strangers wrote is text.
func TestPage(t *testing.T) {
	page, sheet, out := drawnPage(t)
	for _, file := range []string{page, sheet} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		html := string(text)
		for _, bad := range []string{"<script", "<img", "<link rel=\"stylesheet", "@import", "url(http", "<b>", "\x1b", "href=\"http", "src="} {
			assert.NotContains(t, strings.ReplaceAll(html, "&lt;img src=x", ""), bad, file)
		}
		assert.NotContains(t, strings.ReplaceAll(html, `xmlns="http://www.w3.org/2000/svg"`, ""), "http://")
		assert.NotContains(t, html, "https://")
		assert.Contains(t, html, "prefers-color-scheme:dark")
		assert.Contains(t, html, "&lt;script&gt;document.title", "it is there, and escaped")
		assert.Contains(t, html, ">style=&#34;fill:#070809&#34;", "a key that looks like a mark of ours is left alone")
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	checkPage(t, string(text), out)
}

// TestPageNeedsAFile: what cannot be written ends in one line, after the tables.
func TestPageNeedsAFile(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "no", "such", "folder")
	for _, flag := range []string{"svg", "html"} {
		status, out, errs := weirWith(t, "", "simulate", "--limit", "1/s", "--log", "testdata/small.csv", "--"+flag, nowhere)
		assert.Equal(t, 2, status)
		assert.NotEmpty(t, cells(t, out, "gcra"))
		assert.Regexp(t, "^weir simulate: "+flag+": open .*\n$", errs)
	}
}

// chromium runs the browser on a page, without a screen; its own folder is gone afterwards.
func chromium(t *testing.T, page string, args ...string) (dom, log string) {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("there is no chromium: apt-get install chromium, and this test opens the page in it")
	}
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--user-data-dir=" + t.TempDir()}, args...)
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), browser, append(args, "file://"+page)...)
	c.Stdout, c.Stderr = &stdout, &stderr
	require.NoError(t, c.Run(), stderr.String())
	return stdout.String(), stderr.String()
}

// TestPageInABrowser: what a browser makes of the page has the figures of the table, and nothing is said on its console.
func TestPageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	page, sheet, out := drawnPage(t)
	dom, log := chromium(t, page, "--dump-dom")
	assert.NotContains(t, log, "CONSOLE")
	checkPage(t, dom, out)
	assert.NotContains(t, dom, "<script")
	assert.NotContains(t, dom, "taken</title>")

	for _, file := range []string{page, sheet} {
		picture := filepath.Join(t.TempDir(), "screen.png")
		_, log = chromium(t, file, "--hide-scrollbars", "--window-size=1200,900", "--screenshot="+picture)
		assert.NotContains(t, log, "CONSOLE")
		f, err := os.Open(picture)
		require.NoError(t, err)
		defer f.Close()
		seen, err := png.Decode(f)
		require.NoError(t, err)
		colours := map[[3]uint32]int{}
		for y := range seen.Bounds().Dy() {
			for x := range seen.Bounds().Dx() {
				r, g, b, _ := seen.At(x, y).RGBA()
				colours[[3]uint32{r >> 8, g >> 8, b >> 8}]++
			}
		}
		assert.Greater(t, colours[[3]uint32{0x00, 0x72, 0xb2}], 10_000, "what was let through is there to see: %s", file)
		assert.Greater(t, colours[[3]uint32{0xd5, 0x5e, 0x00}], 500, "and what was refused")
	}
}
