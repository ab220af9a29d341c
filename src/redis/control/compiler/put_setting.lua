#!lua flags=allow-oom
-- put_setting: stores or removes one field of a hash of compiled settings; without a field it only writes the epoch.
-- Allowed when Redis is full: a revocation must be possible then, and what is stored is small and bounded by the number of
-- resources. Secrets are larger, so put_secrets stores them.
-- Answer 'superseded' when a later epoch is known, else 1 when something changed, else 0.
local call = redis.call
--#include control/compiler/change

local key, epoch, field, text = KEYS.hash, ARGV.epoch, ARGV.field, ARGV.text
local version, former = begin_change(key, epoch, field)
if not version then return 'superseded' end
if text ~= '' then
  call('HSET', key, COMPILED.version, version, field, version .. ' ' .. text)
  return 1
end
if not former then return 0 end
-- The version first: if Redis dies between the two writes, the resent step raises it again and readers read again.
call('HSET', key, COMPILED.version, version)
return call('HDEL', key, field)
