-- A text holds the balance, in ticks of refill and the units besides, and the tick at which it was right. The tolerance, lw
-- and lr, is a full bucket.
-- read
local ticks, units, last, held = unpack('<ddds', text)
w, r = lw + last - now - ticks, lr - units
if r < 0 then
  w, r = w - 1, r + p
end
-- show
local ticks, units = lw - w, lr - r
if units < 0 then
  ticks, units = ticks - 1, units + p
end
text = pack('<ddds', ticks, units, now, limit)
