-- Puts a text that is counted in another limit in the place of the one that it was made from, unless somebody was faster.
-- ARGV: the text found, the new one, and the millisecond at which it goes, or "". With a second key also keeps what was
-- found, for when its limit comes back: the limit, what to keep, and for how many milliseconds, and until when, it matters.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then
  return {0}
end
if ARGV[3] == '' then
  redis.call('SET', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
end
if KEYS[2] then
  redis.call('HSET', KEYS[2], ARGV[4], ARGV[5])
  if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[6]) then
    redis.call('PEXPIREAT', KEYS[2], ARGV[7])
  end
end
return {0}
