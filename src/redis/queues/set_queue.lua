#!lua flags=allow-oom
-- set_queue: makes a queue or changes its settings. New jobs use them; existing chains keep theirs. The limit and the
-- active flag act at once: a lower limit drains, a pause stops claims. Settings that are already applied are not written.
-- Allowed when Redis is full: a pause or a lower limit must get through, and the number of names bounds the settings.
-- Answer 'superseded' when the shard has another leader epoch, 'stale_id' when the name has another id by now, else 1 when
--       the queue became runnable, else 0.
local call = redis.call
--#include lib/bands
--#include lib/ring
--#include lib/pushed
--#include lib/team
--#include lib/epoch

local field, id, hash, max, active = ARGV.field, ARGV.localId, ARGV.settingsHash, ARGV.maxParallel, ARGV.active
local is_compiled = ARGV.compiled == '1'
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
if call('HGET', KEYS.queueIds, field) ~= id then return 'stale_id' end
local live = call('HMGET', KEYS.meta, QUEUE.settingsHash, QUEUE.timeoutSeconds, QUEUE.active, QUEUE.maxParallel,
  QUEUE.strict, QUEUE.compiled, QUEUE.teamNumber, QUEUE.draining)
local before = live[1]
local is_applied = before == hash and live[2] == ARGV.timeoutSeconds and live[3] == active and (live[4] or '') == max
  and (live[5] or '0') == ARGV.strict and (live[8] or '0') == ARGV.draining and (live[6] == '1' or not is_compiled)
if is_applied then return 0 end

-- The fields of the queue say whether this was done. What a resend would not repeat comes before them; the release of the
-- former settings, which must not be repeated, comes after them.
if before ~= hash then
  call('HSETNX', KEYS.settings, hash, ARGV.settingsJson)
  call('HINCRBY', KEYS.settingsUses, hash, 1)
end
local team = string.sub(field, 1, string.find(field, '/', 1, true) - 1)
local team_number = live[7] or number_of_team(KEYS.teamNumbers, team)
use_ring(KEYS.ring, KEYS.teams)
local woken = 0
local has_free_slot = max == '' or call('ZCARD', KEYS.inFlight) < tonumber(max)
if active == '1' and has_free_slot then
  woken = wake(id, team_number, { active, max }, KEYS.ready, KEYS.inFlight)
else
  call('ZREM', KEYS.ring, id)
end
-- While it is paused nothing ends and no ring lists it; statistics shall still say what waits.
if active ~= '1' then call('SADD', KEYS.sampledQueues, id) end
local fields = { QUEUE.name, field, QUEUE.settingsHash, hash, QUEUE.timeoutSeconds, ARGV.timeoutSeconds, QUEUE.active,
  active, QUEUE.teamNumber, team_number }
local function set(name, value)
  table.insert(fields, name)
  table.insert(fields, value)
end
if max ~= '' then set(QUEUE.maxParallel, max) end
if ARGV.strict == '1' then set(QUEUE.strict, '1') end
if ARGV.draining == '1' then set(QUEUE.draining, '1') end
if is_compiled then
  set(QUEUE.compiled, '1')
  drop_pushed(KEYS.pushedBuckets, KEYS.pushedBucket, id)
end
call('HSET', KEYS.meta, unpack(fields))
if max == '' then call('HDEL', KEYS.meta, QUEUE.maxParallel) end
if ARGV.strict ~= '1' then call('HDEL', KEYS.meta, QUEUE.strict) end
if ARGV.draining ~= '1' then call('HDEL', KEYS.meta, QUEUE.draining) end
if before and before ~= hash and call('HINCRBY', KEYS.settingsUses, before, -1) <= 0 then
  call('HDEL', KEYS.settingsUses, before)
  call('HDEL', KEYS.settings, before)
end
return woken
