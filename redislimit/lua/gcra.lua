-- A text holds the theoretical arrival time in ticks, and the units besides.
-- read
local tat, units, held = unpack('<dds', text)
w, r = tat - now, units
-- show
text = pack('<dds', now + w, r, limit)
