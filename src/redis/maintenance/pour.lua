#!lua flags=allow-oom
-- pour: moves entries of one minute bucket into near. A minute is dropped only when its list is empty. An entry that
-- cannot be read is dropped.
-- KEYS  1 m:<minute>  2 mins  3 near
-- ARGV  minute, entries at most
-- Answer {entries left in the bucket, damaged ones dropped}
local call = redis.call
local minute, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local entries = call('LRANGE', KEYS[1], 0, most - 1)
local scored, damaged = {}, 0
for _, entry in ipairs(entries) do
  local q, id, offset = string.match(entry, '^(%d+)|(%d+)|(%d+)$')
  if offset then
    table.insert(scored, string.format('%.0f', minute * 60000 + tonumber(offset)))
    table.insert(scored, q .. '|' .. id)
  else
    damaged = damaged + 1
  end
end
local left = call('LLEN', KEYS[1]) - #entries
if #scored > 0 then call('ZADD', KEYS[3], unpack(scored)) end
if left == 0 then call('ZREM', KEYS[2], ARGV[1]) end
if #entries > 0 then call('LTRIM', KEYS[1], #entries, -1) end
return { left, damaged }
