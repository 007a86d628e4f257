-- A text holds the water, in ticks of leaking and the units besides, and the tick at which it was right.
-- read
local ticks, units, last = unpack('<ddd', text)
w, r = ticks + last - now, units
-- show
text = pack('<ddd', w, r, now)
