/*
Package config keeps limits in a file, YAML or JSON, that is checked whole and can change while a program runs.

	# Who is believed about the client's address: nobody, unless this says so.
	proxies:
	  trusted: [10.0.0.0/8]
	  header: X-Forwarded-For   # or Forwarded
	ipv6_bits: 64               # how much of an IPv6 address makes a key

	limits:
	  api:
	    policy: gcra            # the default
	    limit: 100/s burst 20
	    key: address            # the default; or user, or header NAME, or a list of which the first that is there counts
	    plans:                  # customers of a plan have its limit instead
	      pro: 1000/s burst 200
	    max_keys: 100000        # no bound if left out
	  exports:
	    policy: slidinglog
	    limit: 10/1h
	    key: [header X-Api-Key, address]
	    dry_run: true           # decide and count, and let requests through

Open makes the limiters, Limits.Rule the rules of package httplimit, and Limits.Watch puts a changed file in force. "weir
check FILE" tells every fault of a file with its line.
*/
package config
