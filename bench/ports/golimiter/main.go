// Command golimiter is github.com/sethvargo/go-limiter as a port of the weir vectors, in the plain-text protocol of
// vectors/README.md. One tick is one nanosecond.
//
// The library reads the time from a package of its own that nobody can set. So package rivals builds this program against a
// copy of the module in which fasttime.txt has the place of that package, internal/fasttime, and nothing else is changed. Built
// in any other way it runs, but by the real clock.
package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
	_ "unsafe" // for go:linkname

	limiter "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
)

// fakeNow is the variable that fasttime.txt declares.
//
//go:linkname fakeNow github.com/sethvargo/go-limiter/internal/fasttime.fakeNow
var fakeNow uint64

// epoch is tick 0, one second after the Unix epoch, as in package rivals.
const epoch = uint64(time.Second)

func main() {
	in := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	c := &oneCase{}
	for in.Scan() {
		w := strings.Split(in.Text(), " ")
		switch w[0] {
		case "hello":
			fmt.Fprint(out, "hello 1 go-limiter - go\npolicies tokenbucket\ncan int64\nmax_keys *\n.\n")
		case "case":
			c = begin(w)
		case "step":
			c.step(w)
		case "end":
			c.end(out)
		case "bye":
			out.Flush()
			return
		default:
			fmt.Fprintln(out, "! - not understood")
		}
		out.Flush()
	}
}

// oneCase is the case at hand: a store, or why it is skipped. The answers are held back until its end, since a step that
// cannot be asked skips all of it.
type oneCase struct {
	seq     string
	store   limiter.Store
	skipped string
	answers strings.Builder
}

func begin(w []string) *oneCase {
	permits, period, burst := number(w[4]), number(w[5]), number(w[6])
	switch {
	case permits != burst:
		return &oneCase{seq: w[1], skipped: "burst is not permits"}
	case period > math.MaxInt64/2:
		return &oneCase{seq: w[1], skipped: "period above 2^62"}
	}
	fakeNow = epoch
	store, err := memorystore.New(&memorystore.Config{Tokens: permits, Interval: time.Duration(period)})
	if err != nil {
		return &oneCase{seq: w[1], skipped: err.Error()}
	}
	return &oneCase{seq: w[1], store: store}
}

func (c *oneCase) step(w []string) {
	if c.skipped != "" {
		return
	}
	if w[2] != "take" || w[5] != "1" {
		c.skipped = "no such operation or cost: " + w[2] + " " + w[5]
		return
	}
	fakeNow = epoch + number(w[3])
	_, remaining, reset, ok, err := c.store.Take(context.Background(), w[4])
	switch {
	case err != nil:
		c.skipped = err.Error()
	case ok:
		fmt.Fprintf(&c.answers, "r %s %s allow %d 0 - - -\n", c.seq, w[1], remaining)
	default:
		fmt.Fprintf(&c.answers, "r %s %s deny %d %d - - -\n", c.seq, w[1], remaining, reset-fakeNow)
	}
}

func (c *oneCase) end(out *bufio.Writer) {
	if c.store != nil {
		c.store.Close(context.Background())
	}
	if c.skipped != "" {
		fmt.Fprintf(out, "s %s %s\n", c.seq, c.skipped)
	} else {
		out.WriteString(c.answers.String())
	}
	fmt.Fprintf(out, "end %s\n", c.seq)
}

func number(word string) uint64 {
	n, _ := strconv.ParseUint(word, 10, 64) // "-" is 0
	return n
}
