#!lua flags=allow-oom
-- put_setting: stores or removes the compiled settings of one team or token. Allowed when Redis is full: a token must be
-- revocable then, and the number of resources bounds what is stored.
-- KEYS  1 teams or tokens
-- ARGV  epoch or '' (no leader), field or '' (only write the epoch), text or '' (remove)
-- Answer 'superseded' when a later epoch is known, else 1 when something changed, else 0.
-- In the hash, #t is the highest epoch known and #v the version of the last change, which readers poll.
local call = redis.call

local key, epoch, field, text = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local known = call('HMGET', key, '#t', '#v')
if epoch ~= '' then
  local highest = tonumber(known[1] or '0')
  if highest > tonumber(epoch) then return 'superseded' end
  if highest < tonumber(epoch) then call('HSET', key, '#t', epoch) end
end
local version = string.format('%.0f', tonumber(known[2] or '0') + 1)
if text ~= '' then
  call('HSET', key, '#v', version, field, version .. ' ' .. text)
  return 1
end
if call('HEXISTS', key, field) == 0 then return 0 end
-- The version first: if Redis dies between the two writes, the resent step raises it again and readers read again.
call('HSET', key, '#v', version)
return call('HDEL', key, field)
