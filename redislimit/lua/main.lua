-- Arguments: what to do, now or "", then those of each limit, which begin with the name of its policy. The answer is whether all fit and were spent, now, and the
-- numbers of each limit; or the text of the first key that is counted in another limit.
local held, all, at = {}, true, 3
for i = 1, #KEYS do
  local policy = policies[ARGV[at]]
  local s, next = policy.read(KEYS[i], at + 1)
  if not s then
    return {next and -1 or -2, now, i, next or ''}
  end
  s.policy, at, all = policy, next, all and s.fits
  held[i] = s
end
local out = {op == 'take' and all and 1 or 0, now}
for _, s in ipairs(held) do
  s.policy.answer(s, out)
end
for _, s in ipairs(held) do
  if op == 'take' and all then
    s.policy.take(s)
  elseif op == 'take' and s.mend then
    s.policy.write(s)
  elseif op == 'refund' then
    s.policy.refund(s)
  elseif op == 'sweep' and s.policy.idle(s) then
    call('DEL', s.key)
  end
end
return out
