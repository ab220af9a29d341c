#!lua flags=allow-oom
-- set_queue: makes a queue or changes its settings. New jobs use them; existing chains keep theirs. The limit and the
-- active flag act at once: a lower limit drains, a pause stops claims. Settings that are already applied are not written.
-- Allowed when Redis is full: a pause or a lower limit must get through, and the number of names bounds the settings.
-- Answer 'superseded' when the shard has another leader epoch, 'stale_id' when the name has another id by now, else 1 when
--       the queue became runnable, else 0.
local call = redis.call
--#include base/ring/bands
--#include base/ring/ring
--#include base/ring/mark
--#include base/ring/flow
--#include base/lib/pushed
--#include base/lib/team
--#include base/lib/epoch

local field, id, hash, max, active = ARGV.field, ARGV.localId, ARGV.settingsHash, ARGV.maxParallel, ARGV.active
local is_compiled = ARGV.compiled == '1'
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
if call('HGET', KEYS.queueIds, field) ~= id then return 'stale_id' end
local live = call('HMGET', KEYS.meta, QUEUE.settingsHash, QUEUE.timeoutSeconds, QUEUE.active, QUEUE.maxParallel,
  QUEUE.strict, QUEUE.compiled, QUEUE.teamNumber, QUEUE.draining, QUEUE.flow)
local before = live[1]
local mark = id .. '|' .. MARK_JOB
-- A throttled queue whose mark was lost is written again, which wakes it.
local is_active = live[3] == active or live[3] == THROTTLED and active == '1' and call('ZSCORE', KEYS.nearSet, mark)
local is_applied = before == hash and live[2] == ARGV.timeoutSeconds and is_active and (live[9] or '') == ARGV.flow and (live[4] or '') == max
  and (live[5] or '0') == ARGV.strict and (live[8] or '0') == ARGV.draining and (live[6] == '1' or not is_compiled)
if is_applied then return 0 end

-- The fields of the queue say whether this was done. What a resend would not repeat comes before them; the release of the
-- former settings, which must not be repeated, comes after them.
if before ~= hash then
  call('HSETNX', KEYS.settings, hash, ARGV.settingsJson)
  call('HINCRBY', KEYS.settingsUses, hash, 1)
end
-- The next claim finds out what of it still holds.
call('ZREM', KEYS.nearSet, mark)
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
-- While it is paused or throttled nothing ends and no ring lists it; statistics shall still say what waits.
if active ~= '1' or ARGV.flow ~= '' then call('SADD', KEYS.sampledQueues, id) end
local fields = { QUEUE.name, field, QUEUE.settingsHash, hash, QUEUE.timeoutSeconds, ARGV.timeoutSeconds, QUEUE.active,
  active, QUEUE.teamNumber, team_number }
local function set(name, value)
  table.insert(fields, name)
  table.insert(fields, value)
end
if max ~= '' then set(QUEUE.maxParallel, max) end
if ARGV.strict == '1' then set(QUEUE.strict, '1') end
if ARGV.draining == '1' then set(QUEUE.draining, '1') end
if ARGV.flow ~= '' then set(QUEUE.flow, ARGV.flow) end
if is_compiled then
  set(QUEUE.compiled, '1')
  drop_pushed(KEYS.pushedBuckets, KEYS.pushedBucket, id)
end
call('HSET', KEYS.meta, unpack(fields))
if ARGV.flow == '' then
  call('HDEL', KEYS.meta, QUEUE.flow, QUEUE.flowState)
elseif (live[9] or '') ~= ARGV.flow then
  local function breaker_in(settings) return string.match(settings, '%d*|%d*|%d*|%d*$') end
  local has_same_breaker = breaker_in(live[9] or '') == breaker_in(ARGV.flow)
  Flow.save(Flow.kept(Flow.read(KEYS.meta, ARGV.flow, UNBOUNDED), has_same_breaker))
end
if max == '' then call('HDEL', KEYS.meta, QUEUE.maxParallel) end
if ARGV.strict ~= '1' then call('HDEL', KEYS.meta, QUEUE.strict) end
if ARGV.draining ~= '1' then call('HDEL', KEYS.meta, QUEUE.draining) end
if before and before ~= hash and call('HINCRBY', KEYS.settingsUses, before, -1) <= 0 then
  call('HDEL', KEYS.settingsUses, before)
  call('HDEL', KEYS.settings, before)
end
return woken
