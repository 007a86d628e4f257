package vectors

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"weir/policy"
)

// Streamer is a Driver that can be put through a case too long to be held whole.
type Streamer interface {
	Driver
	// Stream puts a fresh policy through pieces of steps, one after the other, and tells got what each piece was answered. q
	// has no steps itself. It ends early with what got says, if that is an error, and keeps its time limit for each piece.
	// What the reply holds in the place of results is given back.
	Stream(ctx context.Context, q Request, pieces iter.Seq2[[]Step, bool], got func([]Want) error) (Reply, error)
}

// RunLong puts a driver through the long transcript of a policy. reference makes the policy that is known to be right: the
// steps depend on the answers to those before, and the right ones are its. The first block whose digest differs is
// named, and in it the first answer that differs.
func RunLong(ctx context.Context, d Driver, hello Hello, l Long, reference policy.Maker) Result {
	r := Result{ID: "long/" + l.Policy, Policy: l.Policy, Category: "long"}
	streamer, ok := d.(Streamer)
	switch {
	case !ok:
		return r.verdict(Unsupported, "streaming")
	case !contains(hello.Policies, l.Policy):
		return r.verdict(Unsupported, "policy "+l.Policy)
	}
	for _, capability := range l.Needs {
		if !hello.Able(capability) {
			return r.verdict(Unsupported, capability)
		}
	}
	run := longRun{long: l, maker: reference, digest: l.Digest()}
	reply, err := streamer.Stream(ctx, Request{Policy: l.Policy, Params: l.Params, MaxKeys: l.MaxKeys}, run.pieces(), run.got)
	switch {
	case run.err != nil:
		return r.verdict(Fail, run.err.Error())
	case run.bad != nil:
		return r.differs(&run.bad.at, run.bad.at.Step.Op, run.bad.field, run.bad.wanted, orAbsent(run.bad.got))
	case err != nil:
		return r.failed(ctx, err)
	case reply.Skipped != "" || reply.Error != "" || reply.ConfigError != "":
		return r.judge(Case{}, reply)
	case run.blocks < len(l.Digests):
		return r.verdict(ProtocolError, fmt.Sprintf("%d of %d blocks answered", run.blocks, len(l.Digests)))
	}
	return r.verdict(Pass, "")
}

// longRun is one long transcript under way.
type longRun struct {
	long   Long
	maker  policy.Maker
	digest *Digest
	blocks int // whose digests were right
	bad    *deviation
	err    error // of the reference
}

type deviation struct {
	at                 Expanded
	field, wanted, got string
}

// errDeviates ends a stream at the first block that is wrong.
var errDeviates = errors.New("the answers deviate")

// reference answers the steps of the script with the policy that is right, block by block.
func (r *longRun) reference(yield func(steps []Step, wants []Want) bool) {
	options, err := tableOf(r.long.MaxKeys)
	if err == nil {
		var p policy.Policy
		if p, err = r.maker(r.long.Params.Limit(), options); err == nil {
			r.answer(p, yield)
			return
		}
	}
	r.err = fmt.Errorf("the reference cannot be made: %w", err)
}

func (r *longRun) answer(p policy.Policy, yield func([]Step, []Want) bool) {
	script := r.long.Script()
	for range r.long.Digests {
		steps, wants := make([]Step, r.long.Every), make([]Want, r.long.Every)
		for i := range steps {
			steps[i] = script.Next()
			wants[i], _ = perform(p, steps[i]) // the script has no step that a policy does not know
			script.Answered(wants[i])
		}
		if !yield(steps, wants) {
			return
		}
	}
}

// pieces are the steps of each block, and whether more follow.
func (r *longRun) pieces() iter.Seq2[[]Step, bool] {
	return func(yield func([]Step, bool) bool) {
		n := 0
		r.reference(func(steps []Step, _ []Want) bool {
			n++
			return yield(steps, n < len(r.long.Digests))
		})
	}
}

// got compares the digest after a block with what it must be.
func (r *longRun) got(answers []Want) error {
	for _, w := range answers {
		r.digest.Add(w)
	}
	if r.digest.Sum() == r.long.Digests[r.blocks] {
		r.blocks++
		return nil
	}
	r.find(answers)
	return errDeviates
}

// find names the first answer of the block that differs from the reference's.
func (r *longRun) find(answers []Want) {
	block := 0
	r.reference(func(steps []Step, wants []Want) bool {
		if block++; block <= r.blocks {
			return true
		}
		for i := range steps {
			want, got := r.digest.line(wants[i]), r.digest.line(answers[i])
			if want != got {
				at := Expanded{steps[i], r.blocks*int(r.long.Every) + i}
				r.bad = &deviation{at, fmt.Sprintf("block %d of %d", block, len(r.long.Digests)), want, got}
				return false
			}
		}
		r.err = fmt.Errorf("block %d: the digest is not that of the right answers: is the file of another suite?", block)
		return false
	})
}

// Stream answers piece by piece; a panic is a crash, and a piece that does not come back a timeout.
func (d *RegistryDriver) Stream(ctx context.Context, q Request, pieces iter.Seq2[[]Step, bool], got func([]Want) error) (Reply, error) {
	p, refused, err := d.fresh(q)
	if p == nil {
		return refused, err
	}
	for steps := range pieces {
		reply, err := d.within(ctx, func(ctx context.Context) (Reply, error) { return performAll(ctx, p, steps) })
		if err != nil || reply.Error != "" {
			return reply, err
		}
		if err := got(reply.Results); err != nil {
			return Reply{}, err
		}
	}
	return Reply{}, nil
}

// Stream sends piece by piece in JSON lines, each answered before the next. In plain text a case goes out whole, since a
// port may answer only at its end.
func (d *PortDriver) Stream(ctx context.Context, q Request, pieces iter.Seq2[[]Step, bool], got func([]Want) error) (Reply, error) {
	if err := d.live(ctx); err != nil {
		return Reply{}, err
	}
	d.seq++
	if d.o.Text {
		return d.streamText(ctx, q, pieces, got)
	}
	from := 0
	for steps, more := range pieces {
		one := jsonPart(d.seq, q, steps, from, !more)
		from += len(steps)
		reply, err := d.part(ctx, one)
		if err != nil || reply.Results == nil {
			return reply, err
		}
		if err := got(reply.Results); err != nil {
			d.drop()
			return Reply{}, err
		}
	}
	return Reply{}, nil
}

func (d *PortDriver) streamText(ctx context.Context, q Request, pieces iter.Seq2[[]Step, bool], got func([]Want) error) (Reply, error) {
	b := append(caseLine(d.seq, q.Policy, q.MaxKeys, q.Params), '\n')
	var sizes []int
	n := 0
	for steps := range pieces {
		for _, s := range steps {
			b = append(appendStepLine(b, n, s), '\n')
			n++
		}
		sizes = append(sizes, len(steps))
	}
	b = fmt.Appendf(b, "end %d\n", d.seq)
	one := part{request: b, seq: d.seq, steps: n, last: true}
	one.each = func(results []Want) ([]Want, error) {
		if len(sizes) == 0 || len(results) < sizes[0] {
			return results, nil
		}
		sizes = slices.Delete(sizes, 0, 1)
		return results[:0], got(results)
	}
	return d.part(ctx, one)
}
