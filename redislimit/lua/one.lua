-- One bucket of one limit. Arguments: the limit's text, and as doubles p, the tolerance and the cost, the two as pairs; then
-- what to do and now, which a take by the server's clock does without, for every argument costs. The answer is whether the
-- cost was spent, now, and what is owed before that. A text that is counted in another limit, or that is none, is given back
-- as it is; where there is none, but one was counted in another limit lately, that is said.
-- READ, SHOW and HEAD are the policy's own. What every request passes is written out, for a call costs as much as all of
-- the arithmetic. The length is looked at first: of a shorter text unpack would make an error.
local key, limit = KEYS[1], ARGV[1]
local p, lw, lr, cw, cr = unpack('<ddddd', ARGV[2])
local w, r, mend = 0, 0, false
local text = call('GET', key)
if text then
  if #text ~= HEAD + 1 + #limit then
    return {-1, now, 1, text}
  end
  READ
  if held ~= limit then
    return {-1, now, 1, text}
  end
  if w < 0 then
    w, r = 0, 0 -- idle time is no credit
  elseif timed and (w > lw or w == lw and r > lr) then
    w, r, mend = lw, lr, true -- the server's clock has stepped back
  end
elseif timed and call('EXISTS', 'weir-was:' .. string.sub(key, 6)) == 1 then
  return {-2, now, 1, ''}
end
local before, units_before, spent = w, r, 0
if op == 'take' then
  w, r = w + cw, r + cr
  if r >= p then
    w, r = w + 1, r - p
  end
  if w < lw or w == lw and r <= lr then
    spent = 1
  else
    w, r = before, units_before
    if not mend then
      return {0, now, w, r}
    end
  end
elseif op == 'refund' and (w > 0 or r > 0) then
  w, r = w - cw, r - cr
  if r < 0 then
    w, r = w - 1, r + p
  end
  if w < 0 then
    w, r = 0, 0
  end
else
  if op == 'sweep' and w == 0 and r == 0 then
    call('DEL', key)
  end
  return {0, now, w, r}
end
SHOW
if timed then
  call('SET', key, text, 'PXAT', string.format('%d', (now + w) / 1000 + 2))
else
  call('SET', key, text)
end
return {spent, now, before, units_before}
