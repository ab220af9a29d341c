#!lua flags=allow-oom
-- pour: moves entries of one minute bucket into the near set. The minute is forgotten once its list is empty. An entry
-- that cannot be read is dropped.
-- Answer {entries left in the bucket, entries dropped}
local call = redis.call
local minute = tonumber(ARGV.minute)
local entries = call('LRANGE', KEYS.bucket, 0, tonumber(ARGV.entriesMax) - 1)
local scored, dropped = {}, 0
for _, entry in ipairs(entries) do
  local queue, id, offset = string.match(entry, '^(%d+)|(%d+)|(%d+)$')
  if offset then
    table.insert(scored, string.format('%.0f', minute * 60000 + tonumber(offset)))
    table.insert(scored, queue .. '|' .. id)
  else
    dropped = dropped + 1
  end
end
local left = call('LLEN', KEYS.bucket) - #entries
if #scored > 0 then call('ZADD', KEYS.nearSet, unpack(scored)) end
if left == 0 then call('ZREM', KEYS.minutes, ARGV.minute) end
if #entries > 0 then call('LTRIM', KEYS.bucket, #entries, -1) end
return { left, dropped }
