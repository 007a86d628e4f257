/*
Package httplimit puts limits on HTTP: on a server's handlers, by any weir.Limiter, and on what a client sends.

	limits, err := httplimit.New([]httplimit.Rule{
		{Name: "api", Limiter: limiter},
		{Name: "tenant", Limiter: perTenant, Key: httplimit.Header("X-Tenant"), Cost: cost},
	})
	...
	http.Handle("/api/", limits.Wrap(handler))

A request goes on if all rules allow it and is then charged under each, else it is charged under none. Answers carry the RateLimit
and RateLimit-Policy fields of the IETF draft, or the older forms; a denied request is answered 429 with Retry-After and a problem in
JSON (RFC 9457). The ResponseWriter is handed on as it is.

# Whose request it is

By default the address of the connection, of IPv6 its first 64 bits, and no header is believed. Behind proxies of yours say who they
are and which header they write, with Address. Header, BasicUser, First and functions of your own make other keys.

# Clients

Transport waits for a limiter before it sends, and for what servers ask for by Retry-After and RateLimit, and bounds both.

	client := &http.Client{Transport: &httplimit.Transport{Limiter: limiter, Retries: 2}}

# What it costs

A request under one rule costs one allocation (the text of its key), and two more with RateLimit fields; no goroutine and no
lock but the limiter's.
*/
package httplimit
