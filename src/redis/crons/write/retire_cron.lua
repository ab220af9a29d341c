#!lua flags=allow-oom
-- retire_cron: stops a cron in a shard that it leaves. It ticks no more there, and what it was stays until `drop_cron`.
-- KEYS  1 crons  2 ks  3 epoch
-- ARGV  cron id, epoch or '' (no leader)
-- Answer 'superseded' when a later epoch is known, else its state, '' when it is not there or damaged. Retired again it stays as it
-- is: of the states in two shards the newer one has the higher version.
local call = redis.call
--#include lib/epoch
--#include lib/cron

if is_superseded(KEYS[3], ARGV[2]) then return 'superseded' end
local known = call('HGET', KEYS[2], ARGV[1])
if not known then return '' end
local cron = Cron.parse(known)
if cron and (cron.active == '1' or cron.active == '0') then
  cron.active = cron.active == '1' and 'r' or 'p'
  cron.version = string.format('%.0f', tonumber(cron.version) + 1)
  call('HSET', KEYS[2], ARGV[1], Cron.format(cron))
end
call('ZREM', KEYS[1], ARGV[1])
return cron and Cron.format(cron) or ''
