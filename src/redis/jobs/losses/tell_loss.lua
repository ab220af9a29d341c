#!lua flags=allow-oom
-- tell_loss: tells of a page of the jobs that an intake was answered and that this Redis does not have: an alert of type
-- failure for each queue, `count` times, and a note in the queue's record. A count of 0 says that nobody knows how many,
-- and is told once. A queue that went with its jobs has no record, and its id may be another's by now: its team is told.
-- Sent twice it tells once, because the mark says how many pages were told; the last page clears the loss from it.
-- Answer: 'told type kind count …' with the alerts that were raised; 'other from to' when these are the lost steps by now;
--         '' = nothing is lost here, or it was told before.
-- Transition: lost → told.
--#include base/lib/clock
--#include ledger/alerts/alerts
--#include jobs/losses/intake_mark

local teams = ROWS.teams
local queues = ROWS.queues
local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local mark = IntakeMark.read(KEYS.intakeMark, ARGV.answered)
local lost = IntakeMark.lost(mark)
if lost == '' then return '' end
if lost ~= ARGV.lost then
  IntakeMark.write(KEYS.intakeMark, mark, 0, ARGV.markSeconds)
  return 'other ' .. lost
end
local page = tonumber(ARGV.page)
if mark.told >= page then return '' end

-- Adds to what was noted of the queue within the time that a note stands.
local function note(queue)
  local at, count, from, to = string.match(call('HGET', queue.meta, QUEUE.lostJobs) or '', '^(%d+)|(%d+)|(%d+)|(%d+)$')
  local sum, first, last = tonumber(queue.count), tonumber(queue.fromMs), tonumber(queue.toMs)
  if at and now - tonumber(at) < tonumber(ARGV.notedMs) then
    sum, first, last = sum + tonumber(count), math.min(first, tonumber(from)), math.max(last, tonumber(to))
  end
  call('HSET', queue.meta, QUEUE.lostJobs,
    pad13(now) .. '|' .. string.format('%.0f', sum) .. '|' .. pad13(first) .. '|' .. pad13(last))
end

local jobs = 0
for _, queue in ipairs(queues) do
  local is_there = call('HGET', queue.meta, QUEUE.name) == queue.field
  Alerts.raise(teams[tonumber(queue.teamIndex)], {
    type = 'failure', reason = 'jobs_lost', kind = is_there and 'queue' or 'team',
    resource = is_there and queue.resourceId or '', suppressed = '', job = '', facts = is_there and queue.facts or queue.teamFacts,
    count = math.max(1, tonumber(queue.count)),
  })
  if is_there then note(queue) end
  jobs = jobs + tonumber(queue.count)
end
local raised = Alerts.store(now)
call('HINCRBY', KEYS.clock, CLOCK.lostJobs, jobs)
call('HSET', KEYS.clock, CLOCK.lossToldAt, pad13(now))
mark.told = page
if ARGV.isLast == '1' then mark.from = nil end
IntakeMark.write(KEYS.intakeMark, mark, 0, ARGV.markSeconds)
return raised == '' and 'told' or 'told ' .. raised
