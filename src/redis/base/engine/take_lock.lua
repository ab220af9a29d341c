#!lua flags=allow-oom
-- take_lock: lets one executor at a time do the rounds that a lock of a shard is for. A lock that is not renewed ends by
-- itself. Executors of the version before keep the same lock, without its holder, in a field of each of `former`.
-- Answer 1 when the lock is the sender's, else 0.
-- Transition: of a lock: free → held → free.
local call = redis.call

local time = call('TIME')
local now, lease = time[1] * 1000 + math.floor(time[2] / 1000), tonumber(ARGV.leaseMs)

-- A lock that ends too far ahead was taken before the clock was set back.
local function is_held(ends_at)
  return ends_at ~= nil and ends_at > now and ends_at <= now + 2 * lease
end

local known, holder = string.match(call('GET', KEYS.lock) or '', '^(%d+) (%S+)$')
if is_held(tonumber(known or '')) and holder ~= ARGV.holder then return 0 end
local former = ROWS.former
for _, place in ipairs(former) do
  -- Whoever takes the lock notes its end here as well, so any other value is of the version before.
  local noted = call('HGET', place.hash, place.field)
  if noted and noted ~= known and is_held(tonumber(noted)) then return 0 end
end

local ends_at = string.format('%.0f', now + lease)
for _, place in ipairs(former) do call('HSET', place.hash, place.field, ends_at) end
call('SET', KEYS.lock, ends_at .. ' ' .. ARGV.holder, 'PX', 2 * lease)
return 1
