#!lua flags=allow-oom
-- remove_cron: forgets a cron in its home shard, with its hidden queue and all its jobs, as delete_queue does. Calls in
-- flight end, and nothing is made of that.
-- KEYS  1 kn  2 ki  3 crons  4 kd  5 ks  6 kr  7 ring  8 gc  9 cq  10 set  11 setn  12 use
--       13 q  14 r  15 a  16 x  17 h  18 c  19 cf  20 co  21 b  22 d  23 xb  24 p
--       25 trash b  26 trash d  27 trash xb  28 trash p  29 epoch  30 kn:<team>  31 tu
-- ARGV  team/name, cron id, local id, epoch or '' (no leader)
-- Answer 'superseded' when a later epoch is known · 'moved' when the name has another id by now, else 'removed'.
local call = redis.call
--#include lib/team_index
--#include lib/epoch
--#include lib/usage
--#include lib/trash

local field, id, q = ARGV[1], ARGV[2], ARGV[3]
if is_superseded(KEYS[29], ARGV[4]) then return 'superseded' end
if call('HGET', KEYS[1], field) ~= id then return 'moved' end
-- The name goes last, so that the step can be sent again until it is done.
call('ZREM', KEYS[3], id)
if call('EXISTS', KEYS[13]) == 1 then
  delete_contents(
    { ring = KEYS[7], gc = KEYS[8], cq = KEYS[9], set = KEYS[10], setn = KEYS[11], use = KEYS[12], tu = KEYS[31] }, q,
    { q = KEYS[13], r = KEYS[14], a = KEYS[15], x = KEYS[16], h = KEYS[17], c = KEYS[18], cf = KEYS[19], co = KEYS[20] },
    { KEYS[21], KEYS[22], KEYS[23], KEYS[24] }, { KEYS[25], KEYS[26], KEYS[27], KEYS[28] }
  )
end
call('UNLINK', KEYS[6])
call('HDEL', KEYS[4], id)
call('HDEL', KEYS[5], id)
call('HDEL', KEYS[2], id)
drop_name(KEYS[30], field)
call('HDEL', KEYS[1], field)
return 'removed'
