-- What the buckets share. decode(text, s) sets what each share of s owes at now, w and r, and gives the limit that the
-- text is counted in; encode(s) is the text as of now, without the limit.
local function bucket(shares, decode, encode)
  local policy = {}

  -- Arguments: the limit's text, then for each share p, its tolerance and its cost, the two as pairs.
  function policy.read(key, at)
    local s = {key = key, limit = ARGV[at], fits = true, mend = false, foreign = false}
    for i = 1, shares do
      local a = at + 5 * i - 4
      s[i] = {p = tonumber(ARGV[a]), lw = tonumber(ARGV[a + 1]), lr = tonumber(ARGV[a + 2]),
        cw = tonumber(ARGV[a + 3]), cr = tonumber(ARGV[a + 4]), w = 0, r = 0}
    end
    local text = redis.call('GET', key)
    if text and decode(text, s) ~= s.limit then
      s.foreign = text
      return s
    end
    for i = 1, shares do
      local h = s[i]
      if h.w < 0 then
        h.w, h.r = 0, 0 -- idle time is no credit
      elseif timed and beyond(h.w, h.r, h.lw, h.lr) then
        h.w, h.r, s.mend = h.lw, h.lr, true -- the server's clock has stepped back
      end
      if h.cw > 0 or h.cr > 0 then
        local w, r = plus(h.w, h.r, h.cw, h.cr, h.p)
        s.fits = s.fits and not beyond(w, r, h.lw, h.lr)
      end
    end
    return s, at + 1 + 5 * shares
  end

  function policy.write(s)
    local text = encode(s) .. ' ' .. s.limit
    if not timed then
      redis.call('SET', s.key, text)
      return
    end
    local wait = 0 -- until the key is as good as new, or a tick more
    for i = 1, shares do
      wait = math.max(wait, s[i].w + 1)
    end
    redis.call('SET', s.key, text, 'PXAT', expiry(now + wait))
  end

  function policy.take(s)
    local spent = false
    for i = 1, shares do
      local h = s[i]
      if h.cw > 0 or h.cr > 0 then
        h.w, h.r = plus(h.w, h.r, h.cw, h.cr, h.p)
        spent = true
      end
    end
    if spent then
      policy.write(s)
    end
  end

  function policy.refund(s)
    local given = false
    for i = 1, shares do
      local h = s[i]
      if h.w > 0 or h.r > 0 then
        h.w, h.r = plus(h.w, h.r, -h.cw, -h.cr, h.p)
        if h.w < 0 then
          h.w, h.r = 0, 0
        end
        given = true
      end
    end
    if given then
      policy.write(s)
    end
  end

  function policy.idle(s)
    for i = 1, shares do
      if s[i].w > 0 or s[i].r > 0 then
        return false
      end
    end
    return true
  end

  function policy.answer(s, out)
    for i = 1, shares do
      out[#out + 1] = s[i].w
      out[#out + 1] = s[i].r
    end
  end

  return policy
end
