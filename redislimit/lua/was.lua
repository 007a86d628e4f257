-- What a key held under a limit when it was last carried over from it; "" if that no longer matters.
return {redis.call('HGET', KEYS[1], ARGV[1]) or ''}
