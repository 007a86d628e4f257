-- A text holds the theoretical arrival time in ticks, and the units besides.
-- read
local tat, units = unpack('<dd', text)
w, r = tat - now, units
-- show
text = pack('<dd', now + w, r)
