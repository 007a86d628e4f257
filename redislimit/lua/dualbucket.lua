-- The text: the theoretical arrival time under each limit, in ticks and the units besides. What is not moved stays as it
-- was, which a clock that steps back could tell.
local function arrival(b)
  if b.moved then
    return now + b.w, b.r
  end
  return b.tat, b.units
end

policies.dualbucket = bucket(2, 32, function(text, s)
  local tat, units, tat2, units2, held = unpack('<dddds', text)
  s[1].w, s[1].r, s[1].tat, s[1].units = tat - now, units, tat, units
  s[2].w, s[2].r, s[2].tat, s[2].units = tat2 - now, units2, tat2, units2
  return held
end, function(s)
  local tat, units = arrival(s[1])
  local tat2, units2 = arrival(s[2])
  return pack('<dddds', tat, units, tat2, units2, s.limit)
end)
