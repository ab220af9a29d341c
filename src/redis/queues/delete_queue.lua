#!lua flags=allow-oom
-- delete_queue: removes a queue and all its jobs, in the same time for one job or a million. What holds settings or
-- index entries is renamed to trash, which sweep empties in pages. Calls in flight end as `deleted`: their finish
-- frees and creates nothing.
-- KEYS  1 names  2 ring  3 gc  4 cq  5 set  6 setn  7 use  8 q  9 r  10 a  11 x  12 h  13 c  14 cf  15 co
--       16 b  17 d  18 xb  19 p  20 trash b  21 trash d  22 trash xb  23 trash p
--       24 pushed  25 pushed:<bucket>  26 epoch  27 qn:<team>  28 tu
-- ARGV  team/name, local id, epoch or '' (no leader)
-- Answer 'superseded' when another epoch is known · 'moved' when the name has another id by now, else 'deleted'.
local call = redis.call
--#include lib/pushed
--#include lib/team_index
--#include lib/epoch
--#include lib/usage
--#include lib/trash

local field, id = ARGV[1], ARGV[2]
if is_superseded(KEYS[26], ARGV[3]) then return 'superseded' end
if call('HGET', KEYS[1], field) ~= id then return 'moved' end
-- The name goes last, so that the step can be sent again until it is done.
drop_pushed(KEYS[24], KEYS[25], id)
delete_contents(
  { ring = KEYS[2], gc = KEYS[3], cq = KEYS[4], set = KEYS[5], setn = KEYS[6], use = KEYS[7], tu = KEYS[28] }, id,
  { q = KEYS[8], r = KEYS[9], a = KEYS[10], x = KEYS[11], h = KEYS[12], c = KEYS[13], cf = KEYS[14], co = KEYS[15] },
  { KEYS[16], KEYS[17], KEYS[18], KEYS[19] }, { KEYS[20], KEYS[21], KEYS[22], KEYS[23] }
)
drop_name(KEYS[27], field)
call('HDEL', KEYS[1], field)
return 'deleted'
