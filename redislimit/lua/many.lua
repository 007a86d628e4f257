-- Several limits, or one that is not a single bucket. A policy reads what a key holds, says whether the cost fits, and
-- only when all do, or the request is no take, is anything written.
local policies = {}

-- plus adds pairs; both parts of the second may be negative.
local function plus(w, r, cw, cr, p)
  w, r = w + cw, r + cr
  if r >= p then
    return w + 1, r - p
  elseif r < 0 then
    return w - 1, r + p
  end
  return w, r
end

-- bucket makes a policy of so many buckets over one key: decode sets what each owes and gives the limit
-- that it is counted in, encode gives the text that says so.
local function bucket(buckets, head, decode, encode)
  local policy = {}

  -- Arguments: the limit's text, then for each bucket as doubles p, the tolerance and the cost, the two as pairs.
  function policy.read(key, at)
    local s = {key = key, limit = ARGV[at], fits = true, mend = false}
    for i = 1, buckets do
      local p, lw, lr, cw, cr = unpack('<ddddd', ARGV[at + i])
      s[i] = {p = p, lw = lw, lr = lr, cw = cw, cr = cr, w = 0, r = 0, tat = 0, units = 0, moved = false}
    end
    local text = call('GET', key)
    if text then
      if #text ~= head + 1 + #s.limit or decode(text, s) ~= s.limit then
        return nil, text
      end
    elseif timed and call('EXISTS', 'weir-was:' .. string.sub(key, 6)) == 1 then
      return nil
    end
    for i = 1, buckets do
      local b = s[i]
      if b.w < 0 then
        b.w, b.r = 0, 0
      elseif timed and (b.w > b.lw or b.w == b.lw and b.r > b.lr) then
        b.w, b.r, b.moved, s.mend = b.lw, b.lr, true, true
      end
      if b.cw > 0 or b.cr > 0 then
        local w, r = plus(b.w, b.r, b.cw, b.cr, b.p)
        s.fits = s.fits and (w < b.lw or w == b.lw and r <= b.lr)
      end
    end
    return s, at + 1 + buckets
  end

  function policy.write(s)
    local wait = s[1].w
    if buckets > 1 and s[2].w > wait then
      wait = s[2].w
    end
    if timed then
      call('SET', s.key, encode(s), 'PXAT', string.format('%d', (now + wait) / 1000 + 2))
    else
      call('SET', s.key, encode(s))
    end
  end

  function policy.take(s)
    local spent = false
    for i = 1, buckets do
      local b = s[i]
      if b.cw > 0 or b.cr > 0 then
        b.w, b.r = plus(b.w, b.r, b.cw, b.cr, b.p)
        b.moved, spent = true, true
      end
    end
    if spent then
      policy.write(s)
    end
  end

  function policy.refund(s)
    local given = false
    for i = 1, buckets do
      local b = s[i]
      if b.w > 0 or b.r > 0 then
        b.w, b.r = plus(b.w, b.r, -b.cw, -b.cr, b.p)
        if b.w < 0 then
          b.w, b.r = 0, 0
        end
        b.moved, given = true, true
      end
    end
    if given then
      policy.write(s)
    end
  end

  function policy.idle(s)
    for i = 1, buckets do
      if s[i].w > 0 or s[i].r > 0 then
        return false
      end
    end
    return true
  end

  -- Numbers: what is owed before the request, a pair for each bucket.
  function policy.answer(s, out)
    for i = 1, buckets do
      out[#out + 1] = s[i].w
      out[#out + 1] = s[i].r
    end
  end

  return policy
end

local function single(head, read, show)
  return bucket(1, head, function(text, s)
    local b = s[1]
    local held
    b.w, b.r, held = read(text, b.lw, b.lr, b.p)
    return held
  end, function(s)
    local b = s[1]
    return show(b.w, b.r, b.lw, b.lr, b.p, s.limit)
  end)
end
