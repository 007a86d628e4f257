-- The next keys of a pattern, after the cursor that goes on from there. KEYS[1] only says which node is meant.
local found = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
table.insert(found[2], 1, found[1])
return found[2]
