#!lua flags=allow-oom
-- put_setting: puts what is compiled for one team or token in force, or takes it away. Allowed when Redis is full, as
-- a token must be revocable then, and what is compiled is bounded by the resources there are.
-- KEYS  1 teams or tokens
-- ARGV  epoch or '' (no leader), field or '' (only make the epoch known), text or '' (take away)
-- Answer 'superseded' when a later epoch is known, else 1 when something changed, else 0.
-- In the hash, #t is the highest epoch known and #v the number of the last change, which readers look at.
local call = redis.call

local key, epoch, field, text = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local known = call('HMGET', key, '#t', '#v')
if epoch ~= '' then
  local heard = tonumber(known[1] or '0')
  if heard > tonumber(epoch) then return 'superseded' end
  if heard < tonumber(epoch) then call('HSET', key, '#t', epoch) end
end
local version = string.format('%.0f', tonumber(known[2] or '0') + 1)
if text ~= '' then
  call('HSET', key, '#v', version, field, version .. ' ' .. text)
  return 1
end
if call('HEXISTS', key, field) == 0 then return 0 end
-- First the number: a reader that looks between the two, should the step be torn, looks again after it was sent again.
call('HSET', key, '#v', version)
return call('HDEL', key, field)
