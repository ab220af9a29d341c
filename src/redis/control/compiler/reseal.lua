#!lua flags=allow-oom
-- reseal: puts the same secrets, sealed under another key, in place of a value that nobody has changed since it was read.
-- Allowed when Redis is full: what it stores is as long as what it replaces.
-- Answer 'superseded' when a later epoch is known, else 1 when it was replaced, else 0.
local call = redis.call
--#include control/compiler/change

local key, epoch, field = KEYS.hash, ARGV.epoch, ARGV.field
local version, found = begin_change(key, epoch, field)
if not version then return 'superseded' end
if found ~= ARGV.former then return 0 end
call('HSET', key, COMPILED.version, version, field, version .. ' ' .. ARGV.text)
return 1
