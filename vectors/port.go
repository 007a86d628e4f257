package vectors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"
)

// maxRestarts is how often a port is started again in one run.
const maxRestarts = 10

// maxChunk is how many steps a port is given at once, and has the time limit for.
const maxChunk = 1000

// PortOptions say which program is a port and how it is driven. Only Command is needed.
type PortOptions struct {
	// Command is the program and its arguments; see SplitCommand.
	Command []string
	// Text drives it in plain text; else in JSON lines.
	Text bool
	// Suite is the suite's version, for hello; "0" unless set.
	Suite string
	// StartUp is how long the answer to hello may take; 30 seconds unless set.
	StartUp time.Duration
	// Limit is how long a case of up to 1,000 steps may take, each 1,000 steps of a longer one, and the end; 5 seconds
	// unless set.
	Limit time.Duration
	// Grace is how long a port that is to be ended has before it is killed; 1 second unless set.
	Grace time.Duration
	// Trace, if set, is told every line that goes each way, after -> or <-, and fit for a terminal.
	Trace io.Writer
}

// PortDriver drives a port: a program that speaks protocol 1 of README.md on its standard input and output. After a
// crash, a timeout or an answer that is none it ends the program and starts it again for the next case, ten times.
type PortDriver struct {
	ctx    context.Context // of all processes
	o      PortOptions
	codec  codec
	port   *process // nil: not running
	seq    int
	starts int
	first  *Hello // of the first start
}

// NewPort is a driver of a port. Nothing is started before Hello. When ctx ends, so does the port with all that it has
// started. Close must be called.
func NewPort(ctx context.Context, o PortOptions) (*PortDriver, error) {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return nil, errors.New("port: names no program")
	}
	for _, limit := range []struct {
		name   string
		value  *time.Duration
		unless time.Duration
	}{{"start-up limit", &o.StartUp, 30 * time.Second}, {"time limit", &o.Limit, 5 * time.Second}, {"grace", &o.Grace, time.Second}} {
		if *limit.value < 0 {
			return nil, fmt.Errorf("%s is %v: must be above 0", limit.name, *limit.value)
		}
		if *limit.value == 0 {
			*limit.value = limit.unless
		}
	}
	if o.Suite == "" {
		o.Suite = "0"
	}
	d := &PortDriver{ctx: ctx, o: o, codec: jsonCodec{}}
	if o.Text {
		d.codec = textCodec{}
	}
	return d, nil
}

// Hello starts the port and asks what it is. An error that is no *DriverError is about starting it.
func (d *PortDriver) Hello(ctx context.Context) (Hello, error) {
	p, err := startProcess(d.ctx, d.o.Command, d.o.Grace)
	if err != nil {
		return Hello{}, fmt.Errorf("port cannot be started: %w", err)
	}
	d.port = p
	d.starts++
	var h Hello
	x := d.exchange(p, "hello", d.o.StartUp)
	if err := x.run(ctx, d.codec.hello(d.o.Suite), func() (err error) {
		h, err = d.codec.readHello(x.next)
		return err
	}); err != nil {
		return Hello{}, d.failed(err)
	}
	if d.first == nil {
		d.first = &h
	} else if !d.first.equal(h) {
		return Hello{}, d.failed(&DriverError{Verdict: ProtocolError, Text: "hello is answered otherwise than at the first start"})
	}
	return h, nil
}

func (h Hello) equal(other Hello) bool {
	return h.Protocol == other.Protocol && h.Name == other.Name && h.Version == other.Version && h.Language == other.Language &&
		h.MaxKeys == other.MaxKeys && slices.Equal(h.Policies, other.Policies) && slices.Equal(h.Can, other.Can)
}

// live makes sure that the port runs.
func (d *PortDriver) live(ctx context.Context) error {
	switch {
	case d.port != nil:
		return nil
	case d.starts > maxRestarts:
		return &DriverError{Verdict: NotRun, Text: fmt.Sprintf("the port was started again %d times: no more", maxRestarts)}
	}
	_, err := d.Hello(ctx)
	if known := (*DriverError)(nil); errors.As(err, &known) {
		known.Text = "started again: " + known.Text
	}
	return err
}

// part is a piece of a case that is sent at once, and what must come back.
type part struct {
	request []byte
	seq     int
	from    int  // the index of its first step
	steps   int  // and how many it has
	last    bool // no other follows
	// each, if set, is given the results so far as they come, and gives back those that are not done with.
	each func([]Want) ([]Want, error)
}

// Run puts the port through one case.
func (d *PortDriver) Run(ctx context.Context, q Request) (Reply, error) {
	if err := d.live(ctx); err != nil {
		return Reply{}, err
	}
	d.seq++
	all := Reply{Results: make([]Want, 0, len(q.Steps))}
	for one := range d.codec.parts(d.seq, q) {
		reply, err := d.part(ctx, one)
		if err != nil {
			return Reply{}, err
		}
		if all.Stderr = append(all.Stderr, reply.Stderr...); reply.Results == nil {
			reply.Stderr = all.Stderr
			return reply, nil
		}
		all.Results = append(all.Results, reply.Results...)
	}
	return all, nil
}

// part sends a piece of a case and reads its answer.
func (d *PortDriver) part(ctx context.Context, one part) (reply Reply, err error) {
	chunks := max(1, (one.steps+maxChunk-1)/maxChunk)
	x := d.exchange(d.port, "this case", d.o.Limit*time.Duration(chunks))
	x.wanted = one.steps
	if err := x.run(ctx, one.request, func() (err error) {
		reply, err = d.codec.readReply(x.next, one)
		return err
	}); err != nil {
		return Reply{}, d.failed(err)
	}
	reply.Stderr = d.port.errs.lines()
	return reply, nil
}

// Hash asks the port for one key.
func (d *PortDriver) Hash(ctx context.Context, q HashRequest) (Number, error) {
	if err := d.live(ctx); err != nil {
		return 0, err
	}
	d.seq++
	request, err := d.codec.hash(d.seq, q)
	if err != nil {
		return 0, err
	}
	var key Number
	x := d.exchange(d.port, "this hash", d.o.Limit)
	if err := x.run(ctx, request, func() (err error) {
		key, err = d.codec.readHash(x.next, d.seq)
		return err
	}); err != nil {
		return 0, d.failed(err)
	}
	return key, nil
}

// failed makes the error of an exchange the driver's: what the port wrote to standard error is added, and unless the
// port is still in step it is ended.
func (d *PortDriver) failed(err error) error {
	known := (*DriverError)(nil)
	is := errors.As(err, &known)
	if !is || !known.inStep {
		d.port.end()
	}
	if is {
		known.Stderr = d.port.errs.lines()
	}
	if !is || !known.inStep {
		d.port = nil
	}
	return err
}

// drop ends a port in the middle of a case.
func (d *PortDriver) drop() {
	d.port.end()
	d.port = nil
}

// Close says bye to the port if it runs, and waits for it to end. The error says how it ended if not with status 0. If
// the context of NewPort has ended the port has been ended with it, and that is no error.
func (d *PortDriver) Close() error {
	p := d.port
	if p == nil {
		return nil
	}
	d.port = nil
	if d.ctx.Err() != nil {
		p.end()
		return nil
	}
	x := d.exchange(p, "bye", d.o.Limit)
	ctx, cancel := context.WithTimeout(d.ctx, d.o.Limit)
	defer cancel()
	err := x.bye(ctx, d.codec.bye())
	p.end()
	if d.ctx.Err() != nil {
		return nil
	}
	if known := (*DriverError)(nil); errors.As(err, &known) {
		known.Stderr = p.errs.lines()
	}
	return err
}

// codec is one of the two forms of the protocol: how requests are written and answers are read. It knows nothing of
// processes, clocks and limits: next gives one line more, or the reason why there is none.
//
// An answer that is none is a *DriverError of verdict protocol_error. A reader takes as many lines as belong to the answer.
type codec interface {
	hello(suite string) []byte
	readHello(next nextLine) (Hello, error)
	parts(seq int, q Request) iter.Seq[part]
	readReply(next nextLine, of part) (Reply, error)
	hash(seq int, q HashRequest) ([]byte, error)
	readHash(next nextLine, seq int) (Number, error)
	bye() []byte
}

type nextLine func() ([]byte, error)
