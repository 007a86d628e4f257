package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"weir"
	"weir/cmd/weir/internal/accesslog"
	"weir/policy"
)

// watching is a simulation that is shown while it goes on.
type watching struct {
	simulation
	follow bool
	every  time.Duration

	mu    sync.Mutex // guards the run and what follows, which the reader writes and the screen shows
	ended bool
	err   error
}

// watch shows what each policy does to a log that grows.
func watch(a app, args []string) (int, error) {
	f := flags("watch")
	var w watching
	var limit weir.Limit
	policies := f.String("policy", "", "only these policies: `names` with commas between; all that fit the limit unless said")
	f.TextVar(&limit, "limit", weir.Limit{}, "required: the `limit`: 100/s burst 20, or two for dualbucket: 100/s burst 20 & 5000/h")
	w.logs.flags(f)
	f.IntVar(&w.worst, "worst", 5, "how many of the worst denied keys to show a policy")
	f.BoolVar(&w.follow, "follow", false, "when the last file is read, wait for it to grow, until interrupted")
	f.DurationVar(&w.every, "every", time.Second, "how `long` between two looks: 500ms, 10s")
	if err := parse(a, f, args, logWords); err != nil {
		return usage, err
	}
	const least, most = 100 * time.Millisecond, time.Hour
	if w.every < least || w.every > most {
		return usage, fmt.Errorf("every is %v, must be from %v to %v", w.every, least, most)
	}
	if err := w.check(limit, *policies, f.Args()); err != nil {
		return usage, err
	}
	defer a.tidy()()
	return w.readAndShow(a)
}

// inputs are those of the log; the last one is followed.
func (w *watching) inputs(a app, publish func()) ([]accesslog.Input, error) {
	all, _, err := w.logs.inputs(a)
	if err != nil || !w.follow {
		return all, err
	}
	last := len(all) - 1
	path := w.logs.paths[last]
	if path == "-" {
		return all, nil // a pipe waits by itself
	}
	all[last].Open = func() (io.ReadCloser, error) { return follow(a.ctx, path, publish) }
	return all, nil
}

// readAndShow reads in one goroutine and shows in another, until the log ends or the command is interrupted.
func (w *watching) readAndShow(a app) (int, error) {
	var r *accesslog.Reader
	publish := func() {
		if r != nil {
			w.note(r.Stats())
		}
	}
	files, err := w.inputs(a, publish)
	if err != nil {
		return usage, err
	}
	w.logs.options.Live = true
	done := make(chan struct{})
	go func() {
		defer close(done)
		reader, err := accesslog.NewFiles(files, w.logs.options)
		if err == nil {
			r = reader
			err = w.readAll(r)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended, w.err = true, err
	}()
	w.show(a, done)
	return w.finish(a)
}

func (w *watching) note(stats accesslog.Stats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats = stats
}

// readAll puts what is read through the policies, until the log ends.
func (w *watching) readAll(r *accesslog.Reader) error {
	defer r.Close()
	for {
		record, err := r.Next()
		w.mu.Lock()
		w.stats = r.Stats()
		if err == nil {
			w.run.Add(record.At, record.Key, record.Cost)
		}
		w.mu.Unlock()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// show shows how things stand now and then, until there is no more to come.
func (w *watching) show(a app, done <-chan struct{}) {
	next := time.NewTicker(w.every)
	defer next.Stop()
	s := newScreen(a.out)
	defer s.leave()
	last := ""
	for {
		select {
		case <-done:
			return
		case <-a.ctx.Done():
			return
		case <-next.C:
		}
		if s != nil {
			s.draw(w.page())
			continue
		}
		if line := w.line(); line != last {
			fmt.Fprintln(a.out, line)
			last = line
		}
	}
}

// page is what a terminal shows: all tables, with how the worst keys stand.
func (w *watching) page() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	fmt.Fprintln(&b, w.about())
	for _, line := range w.oddities() {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b)
	_ = writeGrid(&b, w.table()) // a strings.Builder takes all
	rows := [][]string{{"policy", "worst key", "refused", "of", "spent now", "burst"}}
	for _, t := range w.run.Trials {
		for _, id := range t.Worst(w.worst) {
			rows = append(rows, []string{t.Name, shown(w.run.Names[id]), grouped(t.Denied[id]), grouped(w.run.Requests[id]),
				grouped(t.LevelAt(w.run.Last, id)), grouped(t.Burst())})
		}
	}
	fmt.Fprintln(&b)
	_ = writeGrid(&b, rows)
	return b.String()
}

// line is what anything but a terminal gets.
func (w *watching) line() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "requests %d unreadable %d keys %d", w.run.Total, w.stats.Unreadable, len(w.run.Names))
	for _, t := range w.run.Trials {
		fmt.Fprintf(&b, "; %s allowed %d refused %d", t.Name, t.Counts[policy.Allow], refused(t))
		if worst := t.Worst(1); len(worst) > 0 {
			fmt.Fprintf(&b, " worst %s %d", shown(w.run.Names[worst[0]]), t.Denied[worst[0]])
		}
	}
	return b.String()
}

// finish writes the tables as simulate does. That somebody has stopped it is no error.
func (w *watching) finish(a app) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run.Total == 0 {
		if w.err == nil {
			w.err = noRequests(w.stats)
		}
		return usage, w.err
	}
	if err := w.write(a.out); err != nil {
		return usage, err
	}
	if w.err != nil {
		return usage, w.err
	}
	return good, nil
}

// screen is a terminal that one page is shown on over and over.
type screen struct{ to *os.File }

// newScreen is nil where to is no terminal. Else it goes to the terminal's other screen, which leave gives back as it was.
func newScreen(to io.Writer) *screen {
	if c, ok := to.(*checked); ok {
		to = c.to
	}
	if !isTerminal(to) {
		return nil
	}
	s := &screen{to.(*os.File)}
	fmt.Fprint(s.to, "\x1b[?1049h\x1b[?25l")
	return s
}

func (s *screen) leave() {
	if s != nil {
		fmt.Fprint(s.to, "\x1b[?25h\x1b[?1049l")
	}
}

// draw writes a page over the last one, cut to what the terminal is now: it may have been resized.
func (s *screen) draw(page string) {
	width, height, err := term.GetSize(int(s.to.Fd()))
	if err != nil || width < 1 || height < 1 {
		width, height = 80, 24
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	lines := strings.Split(strings.TrimRight(page, "\n"), "\n")
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if runes := []rune(line); len(runes) > width {
			line = string(runes[:width])
		}
		b.WriteString("\x1b[K" + line)
	}
	b.WriteString("\x1b[J")
	fmt.Fprint(s.to, b.String())
}
