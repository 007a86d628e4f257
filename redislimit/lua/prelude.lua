-- Every number here is whole and below 2^53, where a double counts exactly, and is only added, carried and compared.
-- What a bucket owes is a pair: w whole ticks of leaking and r units besides, of which a tick has p. A key of a bucket
-- holds a text: its numbers as doubles of 8 bytes, head bytes in all, the lowest first, and then the limit that they are
-- counted in, which ends with a zero byte.
-- A key goes, by the server's clock, within three milliseconds after it is as good as new: w ticks and less than one more
-- from now. The %d that says so needs a server of 64 bits.
-- OP is what to do and NOW the time in ticks, or nothing: then it is the server's clock, in microseconds.
local call, pack, unpack = redis.call, struct.pack, struct.unpack
local op, now = OP, NOW
local timed = not now
if timed then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = now + 0
end
