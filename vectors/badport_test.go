package vectors_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/vectors"
)

// generous is a limit that must not be met, however busy the machine is; soon is one that must.
const (
	generous = time.Minute
	soon     = 300 * time.Millisecond
)

// badport is the program of internal/badport, built once.
var badport = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "badport")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "badport.exe")
	out, err := exec.Command("go", "build", "-o", name, "weir/vectors/internal/badport").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return name, err
})

func TestMain(m *testing.M) {
	status := m.Run()
	if name, err := badport(); err == nil {
		os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(status)
}

// census knows of every process that has told it of itself.
type census struct {
	listener net.Listener
	accepted chan net.Conn
}

func newCensus(t testing.TB) census {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	c := census{l, make(chan net.Conn, 1000)}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.accepted <- conn
		}
	}()
	return c
}

// gone makes sure that none lives any more, and says how many did: the connection of a process ends with it. Connections
// come in order, so that one of our own closes the list.
func (c census) gone(t testing.TB) (count int) {
	last, err := net.Dial("tcp", c.listener.Addr().String())
	require.NoError(t, err)
	defer last.Close()
	for conn := range c.accepted {
		defer conn.Close()
		if conn.RemoteAddr().String() == last.LocalAddr().String() {
			return count
		}
		count++
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(generous)))
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			assert.Fail(t, "a process is left")
		}
	}
	return count
}

// options start badport in a mode, with limits that are not met.
func options(t testing.TB, mode string, c census) vectors.PortOptions {
	name, err := badport()
	require.NoError(t, err)
	return vectors.PortOptions{Command: []string{name, "-alive", c.listener.Addr().String(), mode}, Suite: "1.0.0",
		StartUp: generous, Limit: generous, Grace: generous}
}

// asText makes options speak plain text.
func asText(o vectors.PortOptions) vectors.PortOptions {
	o.Text = true
	o.Command = append([]string{o.Command[0], "-protocol", "text"}, o.Command[1:]...)
	return o
}

func newPort(t testing.TB, ctx context.Context, o vectors.PortOptions) *vectors.PortDriver {
	d, err := vectors.NewPort(ctx, o)
	require.NoError(t, err)
	return d
}

// threeCases are right for GCRA.
func threeCases(t testing.TB) vectors.Suite {
	second := strings.Replace(threePerSecond(), "three-per-second", "again", 1)
	return suiteOf(t, threePerSecond(), everyOp(), second, refused("x", "", "invalid_permits"))
}

// trial is what came of a run of badport.
type trial struct {
	report     vectors.Report
	hello, bye error
	processes  int
}

// try puts badport through a suite and makes sure that nothing of it is left.
func try(t testing.TB, s vectors.Suite, mode string, change func(*vectors.PortOptions)) (r trial) {
	c := newCensus(t)
	o := options(t, mode, c)
	if change != nil {
		change(&o)
	}
	d := newPort(t, t.Context(), o)
	r.report, r.hello = vectors.Run(t.Context(), s, d, vectors.Options{})
	r.bye = d.Close()
	r.processes = c.gone(t)
	return r
}

func short(o *vectors.PortOptions)      { o.Limit, o.Grace = soon, soon }
func shortStart(o *vectors.PortOptions) { o.StartUp, o.Grace = soon, soon }
func text(o *vectors.PortOptions)       { *o = asText(*o) }
func shortText(o *vectors.PortOptions)  { short(o); text(o) }

// BenchmarkPort is the cost of driving a port that answers as fast as it can, by the step, for a usual case and for a
// whole chunk.
func BenchmarkPort(b *testing.B) {
	for _, steps := range []int{5, 1000} {
		for _, form := range []string{"json", "text"} {
			b.Run(fmt.Sprintf("%s/%d", form, steps), func(b *testing.B) { benchmarkPort(b, form, steps) })
		}
	}
}

func benchmarkPort(b *testing.B, form string, steps int) {
	o := options(b, "fast", newCensus(b))
	if form == "text" {
		o = asText(o)
	}
	d := newPort(b, b.Context(), o)
	defer d.Close()
	_, err := d.Hello(b.Context())
	require.NoError(b, err)
	q := vectors.Request{Policy: "gcra", Params: vectors.Params{Permits: num(3), Period: num(1000), Burst: num(5)}, MaxKeys: "*"}
	for i := range steps {
		q.Steps = append(q.Steps, vectors.Step{Op: "take", Now: num(uint64(i) * 1000003), Key: num(uint64(i) % 9), Cost: num(1)})
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		_, err := d.Run(b.Context(), q)
		took = append(took, time.Since(began))
		require.NoError(b, err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/float64(steps), "ns/step-median")
}

func num(n uint64) *vectors.Number { return (*vectors.Number)(&n) }
