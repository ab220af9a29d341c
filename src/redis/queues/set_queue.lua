#!lua flags=allow-oom
-- set_queue: makes a queue or puts new settings in force. New jobs use them, chains that exist keep theirs; the limit
-- and the active flag are live, so a lower limit drains and a pause stops claims at once. What is in force already is
-- not written. Allowed when Redis is full: a pause or a lower limit must get through, and the names there are bound
-- what settings take.
-- KEYS  1 names  2 ring  3 set  4 setn  5 q  6 r  7 a  8 pushed  9 pushed:<bucket>  10 epoch  11 teams
--       12 tn
-- ARGV  team/name, local id, settings hash, timeout, max or '', active (1 or 0), strict (1 or 0), settings json,
--       compiled (1 = a resource says so, 0 = an edit past any resource), epoch or '' (no leader)
-- Answer 'superseded' when another epoch is known · 'moved' when the name has another id by now, else 1 when the queue
--       became runnable, else 0.
local call = redis.call
--#include lib/bands
--#include lib/ring
--#include lib/pushed
--#include lib/team
--#include lib/epoch

local field, id, hash, timeout, max, active, strict, json, compiled, epoch = unpack(ARGV)
if is_superseded(KEYS[10], epoch) then return 'superseded' end
if call('HGET', KEYS[1], field) ~= id then return 'moved' end
local live = call('HMGET', KEYS[5], 's', 't', 'a', 'm', 'k', 'c', 'u')
local before = live[1]
local in_force = before == hash and live[2] == timeout and live[3] == active and (live[4] or '') == max
  and (live[5] or '0') == strict and (compiled == '0' or live[6] == '1')
if in_force then return 0 end

-- The queue's own fields say what is done: what a resend would not do again comes before them, the release of the
-- former settings, which must not be done twice, after them.
if before ~= hash then
  call('HSETNX', KEYS[3], hash, json)
  call('HINCRBY', KEYS[4], hash, 1)
end
local u = live[7] or number_of_team(KEYS[12], string.sub(field, 1, string.find(field, '/', 1, true) - 1))
use_ring(KEYS[2], KEYS[11])
local woken = 0
local free = max == '' or call('ZCARD', KEYS[7]) < tonumber(max)
if active == '1' and free then
  woken = wake(id, u, { active, max }, KEYS[6], KEYS[7])
else
  call('ZREM', KEYS[2], id)
end
local fields = { 'n', field, 's', hash, 't', timeout, 'a', active, 'u', u }
local function set(name, value)
  table.insert(fields, name)
  table.insert(fields, value)
end
if max ~= '' then set('m', max) end
if strict == '1' then set('k', '1') end
if compiled == '1' then
  set('c', '1')
  drop_pushed(KEYS[8], KEYS[9], id)
end
call('HSET', KEYS[5], unpack(fields))
if max == '' then call('HDEL', KEYS[5], 'm') end
if strict ~= '1' then call('HDEL', KEYS[5], 'k') end
if before and before ~= hash and call('HINCRBY', KEYS[4], before, -1) <= 0 then
  call('HDEL', KEYS[4], before)
  call('HDEL', KEYS[3], before)
end
return woken
