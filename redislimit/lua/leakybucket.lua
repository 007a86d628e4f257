-- A text holds the water, in ticks of leaking and the units besides, and the tick at which it was right.
-- read
local ticks, units, last, held = unpack('<ddds', text)
w, r = ticks + last - now, units
-- show
text = pack('<ddds', w, r, now, limit)
