#!lua flags=allow-oom
-- delete_queue: removes a queue and all its jobs, in the same time for one job or a million. What holds settings or
-- index entries is renamed to trash, which sweep empties in pages. Calls in flight end as `deleted`: their finish
-- frees and creates nothing.
-- KEYS  1 names  2 ring  3 gc  4 cq  5 set  6 setn  7 use  8 q  9 r  10 a  11 x  12 h  13 c  14 cf  15 co
--       16 b  17 d  18 xb  19 p  20 trash b  21 trash d  22 trash xb  23 trash p
--       24 pushed  25 pushed:<bucket>  26 term
-- ARGV  team/name, local id, term or '' (no leader)
-- Answer 'superseded' when another term is known · 'moved' when the name has another id by now, else 'deleted'.
local call = redis.call
--#include pushed
--#include term

local field, id = ARGV[1], ARGV[2]
if is_superseded(KEYS[26], ARGV[3]) then return 'superseded' end
if call('HGET', KEYS[1], field) ~= id then return 'moved' end
local hash = call('HGET', KEYS[8], 's')
local bytes = 0
for _, call_id in ipairs(call('HKEYS', KEYS[13])) do bytes = bytes + call('HSTRLEN', KEYS[13], call_id) end
local kept = {}
for i = 16, 19 do if call('EXISTS', KEYS[i]) == 1 then table.insert(kept, i) end end

-- The name goes last, so that the step can be sent again until it is done.
call('ZREM', KEYS[2], id)
call('ZREM', KEYS[4], id)
call('ZREM', KEYS[3], id)
drop_pushed(KEYS[24], KEYS[25], id)
if #kept > 0 then call('ZADD', KEYS[3], 0, 't' .. id) end
for _, i in ipairs(kept) do call('RENAME', KEYS[i], KEYS[i + 4]) end
if bytes > 0 then call('HINCRBY', KEYS[7], 'calls', -bytes) end
if hash and call('HINCRBY', KEYS[6], hash, -1) <= 0 then
  call('HDEL', KEYS[6], hash)
  call('HDEL', KEYS[5], hash)
end
call('UNLINK', KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15])
call('HDEL', KEYS[1], field)
return 'deleted'
