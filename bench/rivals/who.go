package rivals

import (
	"context"
	"strconv"

	"weir/vectors"
)

// Choices that explain differences: no fault of the arithmetic.
const (
	backIsNow  = "a time before the last one counts as no time gone by"
	wholeTicks = "tokens come at whole intervals counted from when the bucket was made, several at once where the rate needs it"
	nearRate   = "a rate within 1 % of the one asked for, as documented, in whole intervals counted from when the bucket was made"
	fixed      = "all tokens come back together at the end of each interval, counted from the key's first request"
	oneMore    = "retain_recent keeps an idle key for one more interval and, in the cases run, frees none early"
)

// goRival fills in Open for a library that is driven in this process.
func goRival(r Rival, open opener) Rival {
	r.Open = func(ctx context.Context, _ string) (vectors.Driver, string, error) {
		version, _, err := module(ctx, r.Module)
		if err != nil {
			return nil, "", err
		}
		return newGoDriver(r, version, open), version, nil
	}
	return r
}

// onlyBack explains what differs once time has stepped back.
func onlyBack(d Difference) string {
	if d.steppedBack() {
		return backIsNow
	}
	return ""
}

func xtime() Rival {
	return goRival(Rival{
		Name: "golang.org/x/time/rate", Module: "golang.org/x/time", Policy: "tokenbucket",
		Asks:   Asks{Forget: true, YesNo: true, ZeroCost: true, MaxCost: anyCost, Fields: always("remaining")},
		Design: onlyBack,
		Notes: []string{
			"driven by AllowN(t, n), which takes the time; remaining is TokensAt(t), a float64, rounded down",
			"it has no retry_after without making a reservation and cancelling it, which writes, no reset_after and no peek",
			"SetLimit and SetBurst keep the tokens, not the debt, so they are not asked to relimit",
			"a missing token is turned into a wait and cut to whole nanoseconds, and a wait of 0 allows: up to a tick early",
		},
	}, openXtime)
}

func jujuAsks() Asks {
	return Asks{Can: []string{vectors.CanInt64}, Forget: true, Config: true, YesNo: true, ZeroCost: true, MaxCost: anyCost,
		Fields: always("remaining")}
}

// jujuDesign explains all but the permission of a cost above the burst.
func jujuDesign(why string) func(d Difference) string {
	return func(d Difference) string {
		switch {
		case d.steppedBack():
			return "time must not step back, says a comment of the source"
		case d.tooCostly() && d.Result.Field == "outcome":
			return ""
		}
		return why
	}
}

func juju() Rival {
	return goRival(Rival{
		Name: "juju/ratelimit, NewBucketWithQuantum", Module: "github.com/juju/ratelimit", Policy: "tokenbucket",
		Asks: jujuAsks(), Design: jujuDesign(wholeTicks),
		Notes: []string{
			"driven by TakeMaxDuration(n, 0) and Available, with its Clock, and made of permits / g tokens every period / g, g their " +
				"greatest common divisor",
			"it has no wait without taking the tokens for good, no reset_after and no peek",
			"a cost far above the burst overflows and is allowed",
			"every other difference is put down to design without a closer look, which favours it",
		},
	}, openJuju)
}

func jujuRate() Rival {
	return goRival(Rival{
		Name: "juju/ratelimit, NewBucketWithRate", Module: "github.com/juju/ratelimit", Policy: "tokenbucket",
		Asks: jujuAsks(), Design: jujuDesign(nearRate),
		Notes: []string{"driven as above, made by the rate a second",
			"differences are put down to design as above"},
	}, openJujuRate)
}

func golimiter() Rival {
	return Rival{
		Name: "sethvargo/go-limiter, memorystore", Policy: "tokenbucket", Open: openGolimiter,
		Asks:   Asks{Can: []string{vectors.CanInt64}, YesNo: true, MaxCost: 1, Fields: always("remaining", "retry_after")},
		Design: func(Difference) string { return fixed },
		Notes: []string{
			"its documentation says bucket, and not by name token bucket; by its answers it counts in fixed intervals",
			"driven by Take(key), one token a call, burst = tokens; the reset of a refusal, less now, is its retry_after",
			"it has no clock to set: built from a copy of the module whose internal clock package is replaced, nothing else",
		},
	}
}

func bucket4j() Rival {
	return Rival{
		Name: "bucket4j (Java)", Policy: "tokenbucket", Open: openBucket4j,
		Asks: Asks{Can: []string{vectors.CanInt64, vectors.CanPeek, vectors.CanRefund}, Forget: true, Config: true, MaxCost: anyCost,
			Fields: func(op, _ string) []string {
				if op == "peek" {
					return []string{"remaining", "retry_after"}
				}
				return []string{"remaining", "retry_after", "reset_after"}
			}},
		Design: onlyBack,
		Notes: []string{
			"com.bucket4j:bucket4j_jdk17-core, LocalBucket, greedy refill, with its TimeMeter; addTokens is refund, " +
				"estimateAbilityToConsume peek (no reset_after); a request for 0 is refused as an argument",
			"replaceConfiguration has rules of its own and is not asked to relimit",
			"waits are rounded down, so whoever sleeps retry_after may come a tick early; every decision measured is right while time goes forward",
		},
	}
}

func throttledV2() Rival {
	return goRival(Rival{
		Name: "throttled/throttled v2, memstore", Module: "github.com/throttled/throttled/v2", Policy: "gcra",
		Asks: Asks{Can: []string{vectors.CanInt64, vectors.CanPeek}, Config: true, ZeroCost: true, MaxCost: anyCost, PeekCost: 1,
			Fields: always("remaining", "retry_after", "reset_after")},
		Design: func(Difference) string { return "" },
		Notes: []string{
			"driven by RateLimitCtx with the store's SetTimeNow; PerDuration(permits, period), MaxBurst = burst - 1; a peek is " +
				"quantity 0, which tells of a request for 1 only; no way to forget a key",
			"its store for at most maxKeys keys drops the least recently used where the suite wants full: not asked",
			"the interval is cut to whole nanoseconds, so the rate is a little too high where it is not whole",
			"a quantity above the burst is answered with the remaining and the reset of a new key",
		},
	}, openThrottled)
}

func governor() Rival {
	return Rival{
		Name: "governor (Rust)", Policy: "gcra", Open: openGovernor,
		Asks: Asks{Can: []string{vectors.CanInt64, vectors.CanSweep}, Config: true, MaxCost: 1<<32 - 1,
			Fields: func(op, outcome string) []string {
				switch {
				case op == "sweep":
					return []string{"keys"}
				case outcome == "allow":
					return []string{"remaining", "retry_after"}
				}
				return []string{"retry_after"}
			}},
		Design: func(d Difference) string {
			wanted, _ := strconv.Atoi(d.Result.Wanted)
			if got, err := strconv.Atoi(d.Result.Got); d.Result.Op == "sweep" && err == nil && got > wanted {
				return oneMore
			}
			return ""
		},
		Notes: []string{
			"driven by check_key_n with a Clock of ours and StateInformationMiddleware; remaining of allowed requests only, no " +
				"reset_after, no peek; costs and burst are NonZeroU32, so nothing can be asked with 0",
			"the interval is whole nanoseconds: period / permits is cut, as its own per_second does",
		},
	}
}

func uber() Rival {
	return goRival(Rival{
		Name: "go.uber.org/ratelimit", Module: "go.uber.org/ratelimit", Policy: "leakybucket",
		Asks:   Asks{Can: []string{vectors.CanInt64}, Forget: true, MaxCost: 1, Queues: true, Fields: always("delay")},
		Design: func(Difference) string { return "" },
		Notes: []string{
			"it never refuses but sleeps: with its Clock and WithoutSlack, what Take would sleep is compared with the delay of a " +
				"leaky bucket, for the requests that the bucket allows; it knows no burst",
			"the interval is cut to whole nanoseconds",
		},
	}, openUber)
}
