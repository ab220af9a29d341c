#!lua
-- set_queue: makes a queue or puts new settings in force. New jobs use them, chains that exist keep theirs; the limit
-- and the active flag are live, so a lower limit drains and a pause stops claims at once.
-- KEYS  1 names  2 ring  3 set  4 setn  5 q  6 r  7 a
-- ARGV  team/name, local id, settings hash, timeout, max or '', active (1 or 0), strict (1 or 0), settings json
-- Answer 'moved' when the name has another id by now, else 1 when the queue became runnable, else 0.
local call = redis.call
--#include ring

local field, id, hash, timeout, max, active, strict, json = unpack(ARGV)
if call('HGET', KEYS[1], field) ~= id then return 'moved' end
local before = call('HGET', KEYS[5], 's')
call('HSET', KEYS[5], 'n', field, 's', hash, 't', timeout, 'a', active)
if max ~= '' then call('HSET', KEYS[5], 'm', max) else call('HDEL', KEYS[5], 'm') end
if strict == '1' then call('HSET', KEYS[5], 'k', '1') else call('HDEL', KEYS[5], 'k') end
if before ~= hash then
  call('HSETNX', KEYS[3], hash, json)
  call('HINCRBY', KEYS[4], hash, 1)
  if before and call('HINCRBY', KEYS[4], before, -1) <= 0 then
    call('HDEL', KEYS[4], before)
    call('HDEL', KEYS[3], before)
  end
end
local free = max == '' or call('ZCARD', KEYS[7]) < tonumber(max)
if active == '1' and free then return wake(KEYS[2], id, { active, max }, KEYS[6], KEYS[7]) end
call('ZREM', KEYS[2], id)
return 0
