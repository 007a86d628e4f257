-- A sorted set: an entry for each tick in which permits were spent, the tick its score, its member the permits spent before
-- it and with it since the log began, and the period then in force. Those totals are counted modulo 2^52, which is more
-- than a log ever holds, so that a log may go on for ever.
local log = {}
policies.slidinglog = log
local around = 4503599627370496

local function less(a, b)
  local d = a - b
  if d < 0 then
    return d + around
  end
  return d
end

local function entry(found)
  if not found[1] then
    return nil
  end
  local before, total, period = string.match(found[1], '^(%d+) (%d+) (%d+)$')
  return {member = found[1], tick = found[2] + 0, before = before + 0, total = total + 0, period = period + 0}
end

local function newest(key)
  return entry(call('ZREVRANGE', key, 0, 0, 'WITHSCORES'))
end

-- put replaces an entry, or adds one where there was none.
local function put(s, old, tick, before, total)
  if old then
    call('ZREM', s.key, old.member)
  end
  call('ZADD', s.key, string.format('%.0f', tick), string.format('%.0f %.0f %.0f', before, total, s.period))
end

-- last lets the log go when its newest entry has expired.
local function last(s, tick)
  if timed then
    call('PEXPIREAT', s.key, string.format('%.0f', math.floor((tick + s.period) / 1000) + 1))
  end
end

-- mend makes one entry, as of now, of those that a server's clock which has stepped back finds ahead of it.
local function mend(s, top)
  local first = entry(call('ZRANGEBYSCORE', s.key, string.format('%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
  call('ZREMRANGEBYSCORE', s.key, string.format('%.0f', now), '+inf')
  put(s, nil, now, first.before, top.total)
  last(s, now)
end

-- expires is the tick of the first entry with which at least enough permits have expired.
local function expires(s, enough)
  local low, high = call('ZCOUNT', s.key, '-inf', s.gone), call('ZCARD', s.key) - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if less(entry(call('ZRANGE', s.key, middle, middle, 'WITHSCORES')).total, s.from) >= enough then
      high = middle
    else
      low = middle + 1
    end
  end
  return entry(call('ZRANGE', s.key, low, low, 'WITHSCORES')).tick
end

-- Arguments: permits, period and cost.
function log.read(key, at)
  local s = {key = key, permits = ARGV[at] + 0, period = ARGV[at + 1] + 0, cost = ARGV[at + 2] + 0,
    at = now, used = 0, total = 0, from = 0, retry = 0}
  local top = newest(key)
  if top and timed and (top.tick > now or top.period ~= s.period) then
    if top.tick > now then
      mend(s, top)
    else
      put(s, top, top.tick, top.before, top.total)
      last(s, top.tick)
    end
    top = newest(key)
  end
  if top then
    if top.tick > now then
      s.at = top.tick
    end
    s.gone = string.format('%.0f', s.at - s.period)
    local first = entry(call('ZRANGEBYSCORE', key, '(' .. s.gone, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
    s.top, s.total = top, top.total
    if first then
      s.first, s.from = first.tick, first.before
      s.used = less(top.total, first.before)
    end
  end
  s.fits = s.cost == 0 or s.cost <= s.permits - s.used
  if not s.fits and s.cost <= s.permits then
    s.retry = expires(s, s.used + s.cost - s.permits)
  end
  return s, at + 3
end

function log.take(s)
  if s.cost == 0 then
    return
  end
  if s.top then
    call('ZREMRANGEBYSCORE', s.key, '-inf', s.gone)
  end
  local total = s.total + s.cost
  if total >= around then
    total = total - around
  end
  if s.top and s.top.tick == s.at then
    put(s, s.top, s.at, s.top.before, total)
  else
    put(s, nil, s.at, s.total, total)
  end
  last(s, s.at)
end

function log.refund(s)
  local give = s.cost
  if give > s.used then
    give = s.used
  end
  while give > 0 do
    local e = newest(s.key)
    local size = less(e.total, e.before)
    if size > give then
      put(s, e, e.tick, e.before, less(e.total, give))
      give = 0
    else
      call('ZREM', s.key, e.member)
      give = give - size
    end
  end
  local e = newest(s.key)
  if e then
    last(s, e.tick)
  end
end

function log.idle(s)
  return s.used == 0
end

-- Numbers, as of before the request: the permits that count, the newest tick, that whose expiry gives the next permit, and that for which a denied
-- request waits.
function log.answer(s, out)
  local first = s.first or 0
  if s.used > s.permits then
    first = expires(s, s.used - s.permits + 1)
  end
  out[#out + 1] = s.used
  out[#out + 1] = s.top and s.top.tick or 0
  out[#out + 1] = first
  out[#out + 1] = s.retry
end
