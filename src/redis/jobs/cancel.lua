#!lua flags=allow-oom
-- cancel: removes a pending job for good, also one whose record is damaged. A ready job's id stays in the ready list and
-- is counted as gone: taking it out there would cost as much as the list is long.
-- KEYS  1 near  2 mins  3 set  4 setn  5 ix:<block>  6 q  7 r  8 b  9 a  10 p  11 tu  12 use
--       13 sus  14 ring  15 teams
-- ARGV  local queue id, job id, seq, index field
-- Answer 'cancelled' · 'in_flight' · 'gone' (not pending any more).
-- Transition: pending → (none).
local call = redis.call
--#include retention/forget
--#include lib/usage
--#include lib/record
--#include retention/release_settings
--#include lib/suspects
--#include lib/bands
--#include lib/ring

local q, id = ARGV[1], ARGV[2]
local body = call('HGET', KEYS[8], id)
if not body then return 'gone' end
local slot = call('ZSCORE', KEYS[9], id)
local is_suspect = is_waiting(slot)
if slot and not is_suspect then return 'in_flight' end

local is_sound = Record.is_sound(body)
local flags = is_sound and tonumber(string.sub(body, 16, 16)) or 0
local member = q .. '|' .. id
local place = 'ready'
if is_suspect then
  place = 'suspect'
elseif call('ZSCORE', KEYS[1], member) then
  place = 'near'
elseif flags >= 2 and call('ZSCORE', KEYS[2], string.format('%.0f', math.floor(tonumber(string.sub(body, 1, 13)) / 60000))) then
  -- Rare: its minute is being poured, so only a look at the list tells a bucket entry from a ready one.
  if not call('LPOS', KEYS[7], id) then place = 'bucket' end
elseif not is_sound and not call('LPOS', KEYS[7], id) then
  place = 'bucket'
end

release_settings(body, { set = KEYS[3], setn = KEYS[4], use = KEYS[12] })
local bytes = #body
if flags % 2 == 1 or not is_sound then
  bytes = bytes + call('HSTRLEN', KEYS[10], ARGV[3])
  call('HDEL', KEYS[10], ARGV[3])
end
forget(KEYS[5], ARGV[4], q)
if place == 'near' then call('ZREM', KEYS[1], member) end
if place == 'ready' then call('HINCRBY', KEYS[6], 'g', 1) end
call('HDEL', KEYS[8], id)
local live = call('HMGET', KEYS[6], 'a', 'm', 'n', 'u')
if is_suspect then
  call('ZREM', KEYS[9], id)
  call('ZREM', KEYS[13], member)
  use_ring(KEYS[14], KEYS[15])
  wake(q, live[4], live, KEYS[7], KEYS[9])
end
Usage.note(Usage.team_of(live[3]), -bytes, -1, is_suspect and -1 or 0)
Usage.write(KEYS[11])
return 'cancelled'
