#!lua flags=allow-oom
-- drop_cron: forgets a cron in a shard that is not its home. Its runs in flight end, and nothing is made of that.
-- KEYS  1 crons  2 kd  3 ks  4 kr  5 epoch
-- ARGV  cron id, epoch or '' (no leader)
-- Answer 'superseded' when a later epoch is known, else 'dropped'.
local call = redis.call
--#include lib/epoch

local id = ARGV[1]
if is_superseded(KEYS[5], ARGV[2]) then return 'superseded' end
call('ZREM', KEYS[1], id)
call('UNLINK', KEYS[4])
call('HDEL', KEYS[2], id)
call('HDEL', KEYS[3], id)
return 'dropped'
