-- Every number here is whole and below 2^53, where a double counts exactly, and is only added, carried and compared.
-- What a bucket owes is a pair: w whole ticks of leaking and r units besides, of which a tick has p. A key of a bucket
-- holds a text: its numbers as doubles of 8 bytes, head bytes in all, the lowest first, and then the limit that they are
-- counted in.
-- A key goes, by the server's clock, within three milliseconds after it is as good as new: w ticks and less than one more
-- from now. The %d that says so needs a server of 64 bits.
-- ARGV: what to do, now in ticks ("" for the server's clock, in microseconds), then the arguments of each limit.
local call, pack, unpack = redis.call, struct.pack, struct.unpack
local op, now = ARGV[1], ARGV[2]
local timed = now == ''
if timed then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = now + 0
end
