#!lua flags=allow-oom
-- retire_cron: stops a cron in a shard that it leaves. It no longer ticks there, and its data stays until `drop_cron`.
-- Retiring it again changes nothing. Of the states in two shards the newer one has the higher version.
-- Answer 'superseded' when the shard has another leader epoch, else its state, or '' when it is missing or damaged.
local call = redis.call
--#include base/lib/epoch
--#include base/lib/cron

local id = ARGV.cronId
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
local known = call('HGET', KEYS.cronStates, id)
if not known then return '' end
local cron = Cron.parse(known)
if cron and (cron.active == '1' or cron.active == '0') then
  cron.active = cron.active == '1' and 'r' or 'p'
  cron.version = string.format('%.0f', tonumber(cron.version) + 1)
  call('HSET', KEYS.cronStates, id, Cron.format(cron))
end
call('ZREM', KEYS.cronsDue, id)
return cron and Cron.format(cron) or ''
