#!lua
-- put_secrets: stores the secrets of a queue or cron. Refused when Redis is full, other than settings: these have up to
-- SECRET_BYTES_PER_OWNER_MAX, whatever the size of what names them. put_setting removes them then, too.
-- Answer 'superseded' when a later epoch is known, else 1.
local call = redis.call
--#include control/compiler/change

local key, epoch, field = KEYS.hash, ARGV.epoch, ARGV.field
local version = begin_change(key, epoch, field)
if not version then return 'superseded' end
call('HSET', key, COMPILED.version, version, field, version .. ' ' .. ARGV.text)
return 1
