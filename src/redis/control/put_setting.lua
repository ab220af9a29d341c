#!lua flags=allow-oom
-- put_setting: stores or removes the compiled settings of one team or token; without a field it only writes the epoch.
-- Allowed when Redis is full: a token must be revocable then, and the number of resources bounds what is stored.
-- Answer 'superseded' when a later epoch is known, else 1 when something changed, else 0.
local call = redis.call

local key, epoch, field, text = KEYS.hash, ARGV.epoch, ARGV.field, ARGV.text
local known = call('HMGET', key, COMPILED.epoch, COMPILED.version)
if epoch ~= '' then
  local highest = tonumber(known[1] or '0')
  if highest > tonumber(epoch) then return 'superseded' end
  if highest < tonumber(epoch) then call('HSET', key, COMPILED.epoch, epoch) end
end
local version = string.format('%.0f', tonumber(known[2] or '0') + 1)
if text ~= '' then
  call('HSET', key, COMPILED.version, version, field, version .. ' ' .. text)
  return 1
end
if call('HEXISTS', key, field) == 0 then return 0 end
-- The version first: if Redis dies between the two writes, the resent step raises it again and readers read again.
call('HSET', key, COMPILED.version, version)
return call('HDEL', key, field)
