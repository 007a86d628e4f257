package httplimit

import (
	"errors"
	"fmt"
	"net/http"

	"weir"
	"weir/policy"
)

// Middleware puts rules on requests. New makes one; it is safe for concurrent use.
type Middleware struct {
	enforced, dry []*rule
	forms         [XRateLimitEpoch + 1]bool
	secret        *policy.SipSecret
	open          bool
}

// rule is a Rule with what is ready for its denials.
type rule struct {
	Rule
	denied, tooCostly string // bodies
}

// New makes a Middleware of 1 to 16 rules. A request goes on if all rules that hold for it allow it, and is then charged
// under each; else it is charged under none, as weir.Together has it. The error is one line that names rule, field and bound.
func New(rules []Rule, o ...Option) (*Middleware, error) {
	if len(rules) < 1 || len(rules) > mostRules {
		return nil, fmt.Errorf("httplimit.New: has %d rules, must have from 1 to %d", len(rules), mostRules)
	}
	m := &Middleware{}
	m.forms[RateLimit] = true
	for _, option := range o {
		if option == nil {
			return nil, errors.New("httplimit.New: an option is nil")
		}
		if err := option(m); err != nil {
			return nil, fmt.Errorf("httplimit.%w", err)
		}
	}
	seen := make(map[string]bool)
	for i := range rules {
		if err := rules[i].check(i); err != nil {
			return nil, err
		}
		if seen[rules[i].Name] {
			return nil, fmt.Errorf("httplimit.New: rule %d: Name is %q, must differ from those before", i+1, rules[i].Name)
		}
		seen[rules[i].Name] = true
		m.add(rules[i])
	}
	return m, nil
}

func (m *Middleware) add(r Rule) {
	if r.Key == nil {
		r.Key = peerKey
	}
	own := &rule{r, denial(policy.Deny, r.Name), denial(policy.TooCostly, r.Name)}
	if r.DryRun {
		m.dry = append(m.dry, own)
	} else {
		m.enforced = append(m.enforced, own)
	}
}

// Wrap is next behind the rules. The ResponseWriter is handed on as it is.
//
// A denied request is answered 429, and 503 where only a limiter had no answer (see FailOpen), with a problem
// (application/problem+json, RFC 9457) that names the rules at fault. Retry-After is the longest wait among those that
// denied, in whole seconds rounded up; it is left out where no wait helps.
func (m *Middleware) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.admits(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// few is how many rules cost a request no allocation.
const few = 4

// weighed is a rule that holds for a request, and the answer of its limiter.
type weighed struct {
	rule   *rule
	ask    weir.Ask
	answer weir.Result
	failed bool // the limiter had no answer, and that is let pass
}

// admits decides a request and writes what the client is to know. It answers a request that is not to go on.
func (m *Middleware) admits(w http.ResponseWriter, r *http.Request) bool {
	var room, roomDry [few]weighed
	all := holding(room[:0], m.enforced, r)
	dry := holding(roomDry[:0], m.dry, r) // now, so that a Key or Cost that panics does so before anything is charged
	ok := m.decide(r, all)
	m.tell(w, all, ok)
	if ok {
		rehearse(r, dry)
	}
	return ok
}

// holding is those of the rules that hold for a request.
func holding(all []weighed, rules []*rule, r *http.Request) []weighed {
	for _, rule := range rules {
		if limiter := rule.limiter(r); limiter != nil {
			all = append(all, weighed{rule: rule, ask: rule.ask(limiter, r)})
		}
	}
	return all
}

func (r *rule) ask(limiter weir.Limiter, q *http.Request) weir.Ask {
	cost := weir.N(1)
	if r.Cost != nil {
		cost = r.Cost(q)
	}
	return weir.Ask{Limiter: limiter, Key: r.Key.of(q), Cost: cost}
}

// decide asks all limiters, and again without those that have no answer if those are let pass.
func (m *Middleware) decide(r *http.Request, all []weighed) (ok bool) {
	var roomAsks [few]weir.Ask
	var roomAnswers [few]weir.Result
	for {
		asks, answers := roomAsks[:0], roomAnswers[:0]
		for i := range all {
			if !all[i].failed {
				asks = append(asks, all[i].ask)
			}
		}
		answers, ok = weir.Together(r.Context(), asks, answers)
		if !m.note(all, answers) || ok {
			return ok
		}
	}
}

// note takes down the answers. again says that some limiter had none and is to be passed over now; where others denied the
// request that would change nothing, and whoever observes them would hear of it twice.
func (m *Middleware) note(all []weighed, answers []weir.Result) (again bool) {
	denied := false
	for i := range all {
		if all[i].failed {
			continue
		}
		all[i].answer, answers = answers[0], answers[1:]
		switch {
		case !unanswered(all[i].answer):
			denied = denied || !all[i].answer.OK()
		case m.open:
			all[i].failed, again = true, true
		}
	}
	return again && !denied
}

// unanswered says that a limiter could not decide.
func unanswered(r weir.Result) bool {
	switch r.Outcome() {
	case policy.Allow, policy.Deny, policy.TooCostly:
		return false
	}
	return true
}

// rehearse puts the dry rules on a request that goes on.
func rehearse(r *http.Request, dry []weighed) {
	for i := range dry {
		ask := &dry[i].ask
		ask.Limiter.AllowN(r.Context(), ask.Key, ask.Cost)
	}
}
