#!lua flags=allow-oom
-- promote: moves due members of the near set to their ready lists, and looks after throttled queues whose mark is due: one
-- that may begin jobs again goes into the ring. A member whose record is missing or has another due
-- time is dropped, and so is one that cannot be read.
-- Answer {now, jobs moved and queues that may begin jobs again, {number of the team, local id of each queue that can run again…}, next due or ''}
-- Where a key of a queue is of another type, the step ends with an error and takes back what it has pushed: pushed again, the
--       jobs of all other queues would run twice.
-- Transition: pending (delayed) → pending (ready).
--#include base/lib/clock
--#include base/ring/bands
--#include base/ring/ring
--#include base/ring/mark
--#include base/ring/flow
--#include base/ring/throttle
--#include base/lib/record
--#include base/lib/suspects
--#include jobs/execute/finish/guarded

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
use_ring(KEYS.ring, KEYS.teams)
local queues = ROWS.queues
local members = ROWS.members
local by_id = {}
for _, queue in ipairs(queues) do
  by_id[queue.localId], queue.due = queue, {}
end

local handled, moved, seen = {}, 0, {}
for _, row in ipairs(members) do
  local queue, id = by_id[row.localId], row.jobId
  local member = row.localId .. '|' .. id
  local due = tonumber(call('ZSCORE', KEYS.nearSet, member) or '')
  if due and due <= now and id == MARK_JOB then
    queue.is_marked = true
  elseif due and due <= now and not seen[member] then
    seen[member] = true
    table.insert(handled, member)
    local body = call('HGET', queue.records, id)
    -- A damaged record is promoted too: the executor that claims it has it quarantined.
    if body and (tonumber(Record.due(body) or '') == due or not Record.is_sound(body)) then table.insert(queue.due, id) end
  end
end

for i = arg_at + 1, #ARGV do table.insert(handled, ARGV[i]) end

local woken = {}
local function wake_up(queue, live)
  if wake(queue.localId, live[3], live, queue.ready, queue.inFlight) == 1 then
    local n = #woken
    woken[n + 1], woken[n + 2] = tonumber(live[3] or '') and live[3] or '0', queue.localId
  end
end
local function push_all()
  for _, queue in ipairs(queues) do
    local count = #queue.due
    if count > 0 then
      moved = moved + count
      if call('RPUSH', queue.ready, unpack(queue.due)) == count then
        local live = call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.teamNumber)
        wake_up(queue, live)
      end
    end
  end
end
local function drop_ready(ready_key, id) call('LREM', ready_key, -1, id) end
local function leave_ring(ready_key, local_id)
  if call('LLEN', ready_key) == 0 then call('ZREM', KEYS.ring, local_id) end
end
if not guarded('ready', push_all) then
  for _, queue in ipairs(queues) do
    for _, id in ipairs(queue.due) do guarded(queue.localId, drop_ready, queue.ready, id) end
    if #queue.due > 0 then guarded(queue.localId, leave_ring, queue.ready, queue.localId) end
  end
  return { err = faults[1] }
end
if #handled > 0 then call('ZREM', KEYS.nearSet, unpack(handled)) end

-- A queue that was paused or deleted meanwhile is none of ours any more.
local function look_after(queue)
  local live = call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.teamNumber, QUEUE.flow)
  local mark = queue.localId .. '|' .. MARK_JOB
  if live[1] ~= THROTTLED then
    call('ZREM', KEYS.nearSet, mark)
    return
  end
  local flow = Flow.at(queue.meta, live[4] or '', now)
  -- A job that was lost with its executor tries nothing until it is claimed again.
  local slot = flow.probe ~= '' and call('ZSCORE', queue.inFlight, flow.probe)
  if flow.probe ~= '' and (not slot or is_waiting(slot)) then Flow.lose_probe(flow, flow.probe) end
  local has_jobs = call('LLEN', queue.ready) > 0
  if has_jobs and Flow.allowed(flow, now) < 1 then return Flow.throttle(flow, now, queue.localId) end
  Flow.save(flow, '1')
  call('ZREM', KEYS.nearSet, mark)
  if not has_jobs then return end
  moved, live[1] = moved + 1, '1'
  wake_up(queue, live)
end
for _, queue in ipairs(queues) do
  if queue.is_marked and not guarded(queue.localId, look_after, queue) then return { err = faults[1] } end
end
local head = call('ZRANGE', KEYS.nearSet, 0, 0, 'WITHSCORES')
return { pad13(now), moved, woken, head[2] or '' }
