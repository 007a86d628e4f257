package grpclimit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"weir"
	"weir/policy"
)

// Server puts rules on calls. New makes one; it is safe for concurrent use.
type Server struct {
	enforced, dry []Rule
	open          bool
}

// Option changes how New makes a Server.
type Option func(*Server) error

// FailOpen lets calls go on that a limiter has no answer for (full, unavailable, past its horizon), as if its rule did not
// hold for them. Without it they end in UNAVAILABLE.
func FailOpen() Option {
	return func(s *Server) error {
		s.open = true
		return nil
	}
}

// New makes a Server of 1 to 16 rules. A call goes on if all rules that hold for it allow it, and is then charged under each;
// else it is charged under none, as weir.Together has it. The error is one line that names rule, field and bound.
func New(rules []Rule, o ...Option) (*Server, error) {
	if len(rules) < 1 || len(rules) > mostRules {
		return nil, fmt.Errorf("grpclimit.New: has %d rules, must have from 1 to %d", len(rules), mostRules)
	}
	s := &Server{}
	for _, option := range o {
		if option == nil {
			return nil, errors.New("grpclimit.New: an option is nil")
		}
		if err := option(s); err != nil {
			return nil, fmt.Errorf("grpclimit.%w", err)
		}
	}
	seen := make(map[string]bool)
	for i, r := range rules {
		if err := r.check(i); err != nil {
			return nil, err
		}
		if seen[r.Name] {
			return nil, fmt.Errorf("grpclimit.New: rule %d: Name is %q, must differ from those before", i+1, r.Name)
		}
		seen[r.Name] = true
		if r.DryRun {
			s.dry = append(s.dry, r)
		} else {
			s.enforced = append(s.enforced, r)
		}
	}
	return s, nil
}

// Unary is a grpc.UnaryServerInterceptor. A denied call ends in RESOURCE_EXHAUSTED, with a QuotaFailure that names the rules at
// fault, and a RetryInfo with the exact wait where there is one that helps.
func (s *Server) Unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := s.admit(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// Stream is a grpc.StreamServerInterceptor, and as Unary for the opening of a stream.
func (s *Server) Stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := s.admit(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(service, stream)
}

// admit is nil if a call may go on.
func (s *Server) admit(ctx context.Context, method string) error {
	asks, names := s.holding(ctx, method)
	for {
		answers, ok := weir.Together(ctx, asks, nil)
		if ok {
			s.rehearse(ctx, method)
			return nil
		}
		if !s.open || denied(answers) {
			return refusal(names, answers)
		}
		asks, names = answered(asks, names, answers)
	}
}

func (s *Server) holding(ctx context.Context, method string) (asks []weir.Ask, names []string) {
	for i := range s.enforced {
		if a, ok := s.enforced[i].ask(ctx, method); ok {
			asks, names = append(asks, a), append(names, s.enforced[i].Name)
		}
	}
	return asks, names
}

// answered is the asks whose limiters could decide.
func answered(asks []weir.Ask, names []string, answers []weir.Result) (rest []weir.Ask, restNames []string) {
	for i, a := range asks {
		if !unanswered(answers[i]) {
			rest, restNames = append(rest, a), append(restNames, names[i])
		}
	}
	return rest, restNames
}

// denied says whether any limiter denied the call: then it matters no more what others would have said.
func denied(answers []weir.Result) bool {
	return slices.ContainsFunc(answers, func(r weir.Result) bool { return !r.OK() && !unanswered(r) })
}

// unanswered says that a limiter could not decide.
func unanswered(r weir.Result) bool {
	switch r.Outcome() {
	case policy.Allow, policy.Deny, policy.TooCostly:
		return false
	}
	return true
}

// rehearse puts the dry rules on a call that goes on.
func (s *Server) rehearse(ctx context.Context, method string) {
	for i := range s.dry {
		if a, ok := s.dry[i].ask(ctx, method); ok {
			a.Limiter.AllowN(ctx, a.Key, a.Cost)
		}
	}
}

// refusal is the error of a call that does not go on: a denial if any rule denied it.
func refusal(names []string, answers []weir.Result) error {
	quota := &errdetails.QuotaFailure{}
	var wait time.Duration
	for i, r := range answers {
		if unanswered(r) || r.OK() {
			continue
		}
		wait = max(wait, r.RetryAfter())
		quota.Violations = append(quota.Violations, &errdetails.QuotaFailure_Violation{Subject: names[i], Description: describe(r)})
	}
	if len(quota.Violations) == 0 {
		return status.Error(codes.Unavailable, "the limit of this call cannot be told now")
	}
	details := []protoadapt.MessageV1{quota}
	if wait != weir.Never {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
	}
	denied := status.New(codes.ResourceExhausted, "too many calls")
	if detailed, err := denied.WithDetails(details...); err == nil {
		denied = detailed
	}
	return denied.Err()
}

func describe(r weir.Result) string {
	if r.RetryAfter() == weir.Never {
		return "costs more than the limit can ever allow"
	}
	return "comes too early"
}
