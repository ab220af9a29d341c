#!lua
-- enqueue: stores a batch of new jobs of one shard. Sent twice, it takes effect once.
-- plan: 'queue index, block index, jobs, start, timeout, marks;' for each stretch of so many jobs alike, with blanks between.
--       start: 'd<ms>' delay, 'a<ms>' absolute · timeout: '' = the queue's · marks: l = large, i = idempotent.
-- numbers: 'field id ' for each job: its place in the block, and its id as text, as making texts of numbers is slow here.
-- requests: for each job request [, large] [, idempotency field, fingerprint]. request: the request part of the record;
--       large: its tail for `payloads`.
-- audits: an entry of the audit log for the job at this position, from 1, which somebody asked for.
-- newHash, newTimeout and newJson are the settings of a queue that the batch makes. Ceilings are as in lib/quota.lua.
-- stepNumber, answered: the step's number, and the highest that its intake was answered; see losses/intake_mark.lua.
-- Answer 'day' when Redis's day or the one before is not declared, else 'now woken jobs code a b …' with four words for as
--       many jobs in a row. Before all that stand 'lost from to ' when steps are lost that were answered:
--       ok - due · again - due (due -1: already ended) · dup id due (of the earlier job) · conflict - - · full - - · moved - - · taken - - · draining - - (its queue takes no new jobs)
--       by a quota: pendingJobs - - · storedBytes - - · share - - · jobsPerMonth - -; Redis is nearly full: room - -
-- Transition: (none) → pending.
--#include base/lib/clock
--#include base/ring/bands
--#include base/ring/ring
--#include base/lib/pushed
--#include base/lib/usage
--#include base/lib/team
--#include base/lib/quota
--#include base/lib/record
--#include base/lib/job_index
--#include ledger/audit-log/audit_log
--#include jobs/losses/intake_mark

local blocks = ROWS.blocks
local days = ROWS.days
local minute_rows = ROWS.minutes
local team_rows = ROWS.teams
local queues = ROWS.queues
local audits = ROWS.audits

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local now_text = pad13(now)

local today, yesterday
if #days > 0 then
  local day = math.floor(now / 86400000)
  for _, row in ipairs(days) do
    if tonumber(row.day) == day then today = row.idempotencyKeys end
    if tonumber(row.day) == day - 1 then yesterday = row.idempotencyKeys end
  end
  if not (today and yesterday) then return 'day' end
end

-- Read and check everything.
local minutes, teams = {}, {}
for _, row in ipairs(minute_rows) do minutes[tonumber(row.minute)] = row.bucket end
Quota.bound(now, ARGV.month, ARGV.monthEndsMs, ARGV.allBytesMax)
for i, row in ipairs(team_rows) do teams[i] = Quota.add_team(row) end
local fields = {}
for i, queue in ipairs(queues) do fields[i] = queue.field end
local ids_now = call('HMGET', KEYS.queueIds, unpack(fields))
for i, queue in ipairs(queues) do
  queue.team = teams[tonumber(queue.teamIndex)]
  queue.moved = ids_now[i] ~= queue.localId
  local live = call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.settingsHash, QUEUE.timeoutSeconds,
    QUEUE.teamNumber, QUEUE.draining)
  queue.is_draining = live[6] == '1'
  queue.is_new = not live[3]
  queue.live = queue.is_new and { '1' } or live
  queue.team_number = live[5]
  queue.hash = live[3] or ARGV.newHash
  queue.timeout = string.format('%03d', tonumber(live[4] or '') or ARGV.newTimeout)
  queue.bodies, queue.large, queue.ready_ids, queue.count, queue.bytes = {}, {}, {}, 0, 0
end

-- Each block is read once: its owner and the entries of this batch's jobs.
local stretches, block_fields = {}, {}
local all_fields, all_ids, read = {}, {}, 0
for field, id in string.gmatch(ARGV.numbers, '(%d+) (%d+) ') do
  read = read + 1
  all_fields[read], all_ids[read] = field, id
end
read = 0
for queue, block, jobs, start, ms, timeout, marks in
  string.gmatch(ARGV.plan, '(%d+) (%d+) (%d+) (%a)(%S+) (%d*) (%a*);')
do
  local fields, ids = block_fields[block], {}
  if not fields then
    fields = { INDEX.owner }
    block_fields[block] = fields
  end
  local places, count = #fields, tonumber(jobs)
  for i = 1, count do fields[places + i], ids[i] = all_fields[read + i], all_ids[read + i] end
  read = read + count
  stretches[#stretches + 1] = {
    queue = queues[tonumber(queue)], block = block, fields = fields, places = places, ids = ids, count = count,
    start = start, ms = tonumber(ms), timeout = timeout,
    is_large = string.find(marks, 'l', 1, true), is_keyed = string.find(marks, 'i', 1, true),
  }
end
local is_taken, found_fields = {}, {}
for block, fields in pairs(block_fields) do
  local found = call('HMGET', blocks[tonumber(block)].jobIndex, unpack(fields))
  is_taken[block] = (found[1] or ARGV.nonce) ~= ARGV.nonce
  found_fields[block] = found
end

local idem_size, seen_keys = nil, {}
-- A record without its request has about this many bytes.
local HEAD_BYTES = 36

-- Answers what an earlier push under this key was answered; nil when there was none.
local function earlier_push(field)
  if seen_keys[field] then return seen_keys[field] end
  return call('HGET', today, field) or call('HGET', yesterday, field)
end

local answer, index_fields, idem_fields = { now_text, 0 }, {}, {}
local near, buckets = {}, {}

-- Works out what the jobs of a stretch share: when they are due, how their records begin, and the bucket of their
-- minute.
local function begin(stretch)
  local queue = stretch.queue
  local due = stretch.start == 'd' and now + stretch.ms or math.max(now, stretch.ms)
  local minute = math.floor(due / 60000)
  stretch.is_due = due <= now
  if due - now > 60000 and minutes[minute] then
    buckets[minute] = buckets[minute] or {}
    stretch.later, stretch.tail = buckets[minute], '|' .. string.format('%.0f', due - minute * 60000)
  end
  stretch.due_text = due == now and now_text or pad13(due)
  local flags = (stretch.later and 2 or 0) + (stretch.is_large and 1 or 0)
  local timeout = stretch.timeout == '' and queue.timeout or string.format('%03d', stretch.timeout)
  local lag = due > now and string.format('%.0f', due - now) or ''
  stretch.head = stretch.due_text .. '10' .. flags .. timeout .. queue.hash .. lag .. '|'
  index_fields[stretch.block] = index_fields[stretch.block] or {}
  stretch.indexed = index_fields[stretch.block]
end

-- Lists are filled by index: table.insert takes twice as long, and this is done for each job.
local function place(stretch, id)
  local queue = stretch.queue
  if stretch.is_due then
    queue.ready_ids[#queue.ready_ids + 1] = id
  elseif stretch.later then
    stretch.later[#stretch.later + 1] = queue.localId .. '|' .. id .. stretch.tail
  else
    local n = #near
    near[n + 1], near[n + 2] = stretch.due_text, queue.localId .. '|' .. id
  end
end

-- Plans all jobs of a stretch at once when nothing sets any of them apart: all are new and small, without keys, within every
-- ceiling, and their queue takes jobs. Answers their code and due time, or nothing when each job has to be looked at.
local function plan_all(stretch)
  local queue, block, places, count = stretch.queue, stretch.block, stretch.places, stretch.count
  if queue.moved or queue.is_draining or is_taken[block] or stretch.is_large or stretch.is_keyed then return nil end
  local found, bytes = found_fields[block], 0
  for i = 1, count do
    if found[places + i] then return nil end
    bytes = bytes + #ARGV[arg_at + i]
  end
  if not Quota.admit_all(KEYS.teamUsage, queue.team, count, HEAD_BYTES * count + bytes) then return nil end
  begin(stretch)
  local bodies, n, head, ids = queue.bodies, queue.count * 2, stretch.head, stretch.ids
  local fields, indexed, local_id = stretch.fields, stretch.indexed, queue.localId
  local m = #indexed
  for i = 1, count do
    bodies[n + 1], bodies[n + 2] = ids[i], head .. ARGV[arg_at + i]
    indexed[m + 1], indexed[m + 2] = fields[places + i], local_id
    n, m = n + 2, m + 2
  end
  if stretch.is_due and #queue.ready_ids == 0 then
    queue.ready_ids = ids
  else
    for i = 1, count do place(stretch, ids[i]) end
  end
  arg_at = arg_at + count
  queue.count, queue.bytes = queue.count + count, queue.bytes + bytes + #head * count
  return 'ok', stretch.due_text
end

-- Plans the next job of a stretch, counted from 1.
local function plan(stretch, i)
  local queue, block, request = stretch.queue, stretch.block, next_arg()
  local large = stretch.is_large and next_arg()
  local field, fingerprint
  if stretch.is_keyed then field, fingerprint = next_arg(), next_arg() end
  if queue.moved then return 'moved', '-', '-' end
  if is_taken[block] then return 'taken', '-', '-' end
  local id, index_place = stretch.ids[i], stretch.places + i
  if found_fields[block][index_place] then
    local body = call('HGET', queue.records, id)
    return 'again', '-', body and Record.due(body) or '-1'
  end
  if field then
    local found = earlier_push(field)
    if found then
      local known, known_id, known_due = string.match(found, '^(%S+) (%d+) (%d+)$')
      if known ~= fingerprint then return 'conflict', '-', '-' end
      return 'dup', known_id, known_due
    end
    idem_size = idem_size or call('HLEN', today)
    if idem_size >= tonumber(ARGV.idempotencyKeysMax) and not queue.is_draining then return 'full', '-', '-' end
  end
  if queue.is_draining then return 'draining', '-', '-' end
  local bytes = #request + (large and #large or 0)
  local refusal = Quota.admit(KEYS.teamUsage, queue.team, HEAD_BYTES + bytes)
  if refusal then return refusal, '-', '-' end
  if not stretch.head then begin(stretch) end
  place(stretch, id)
  local bodies, count, indexed = queue.bodies, queue.count, stretch.indexed
  bodies[count * 2 + 1], bodies[count * 2 + 2] = id, stretch.head .. request
  queue.bytes = queue.bytes + #stretch.head + bytes
  queue.count = count + 1
  if large then
    local seq = tonumber(blocks[tonumber(block)].block) * 128 + tonumber(stretch.fields[index_place])
    table.insert(queue.large, string.format('%.0f', seq))
    table.insert(queue.large, large)
  end
  local n = #indexed
  indexed[n + 1], indexed[n + 2] = stretch.fields[index_place], queue.localId
  if field then
    idem_size = idem_size + 1
    seen_keys[field] = fingerprint .. ' ' .. id .. ' ' .. stretch.due_text
    table.insert(idem_fields, field)
    table.insert(idem_fields, seen_keys[field])
  end
  return 'ok', '-', stretch.due_text
end

local position, is_made = 0, {}
local last_code, last_due
local function say(count, code, id, due)
  local n = #answer
  if code == last_code and due == last_due and id == '-' then
    answer[n - 3] = answer[n - 3] + count
  else
    answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = count, code, id, due
    last_code, last_due = code, due
  end
  if #audits > 0 then
    for i = 1, count do is_made[position + i] = code == 'ok' end
  end
  position = position + count
end
for _, stretch in ipairs(stretches) do
  local code, due = plan_all(stretch)
  if code then
    say(stretch.count, code, '-', due)
  else
    for i = 1, stretch.count do say(1, plan(stretch, i)) end
  end
end

-- Writes that cannot fail: records, places, ring; the index and the idempotency keys last, when their jobs are in place.
local uses = {}
for _, queue in ipairs(queues) do
  if queue.count > 0 then
    uses[queue.hash] = (uses[queue.hash] or 0) + queue.count
    if queue.is_new then
      -- This comes before the queue itself, as a resend no longer takes the queue for new.
      note_pushed(KEYS.pushedBuckets, queue.pushedBucket, queue.localId)
      queue.team_number = number_of_team(KEYS.teamNumbers, queue.team.name)
      call('HSET', queue.meta, QUEUE.name, queue.field, QUEUE.settingsHash, ARGV.newHash, QUEUE.timeoutSeconds,
        ARGV.newTimeout, QUEUE.active, '1', QUEUE.teamNumber, queue.team_number)
      call('HSETNX', KEYS.settings, ARGV.newHash, ARGV.newJson)
      uses[queue.hash] = uses[queue.hash] + 1
    end
    if #queue.large > 0 then call('HSET', queue.payloads, unpack(queue.large)) end
    call('HSET', queue.records, unpack(queue.bodies))
    Usage.note(queue.team.name, queue.bytes, queue.count, 0)
  end
end
for hash, count in pairs(uses) do call('HINCRBY', KEYS.settingsUses, hash, count) end
Usage.write(KEYS.teamUsage)
Quota.write(KEYS.teamUsage)
if #near > 0 then call('ZADD', KEYS.nearSet, unpack(near)) end
for minute, entries in pairs(buckets) do
  call('ZADD', KEYS.minutes, minute, string.format('%.0f', minute))
  call('RPUSH', minutes[minute], unpack(entries))
end
use_ring(KEYS.ring, KEYS.teams)
for _, queue in ipairs(queues) do
  local added = #queue.ready_ids
  -- A list that was not empty says that the queue is in the ring already, if it may be.
  if added > 0 and call('RPUSH', queue.ready, unpack(queue.ready_ids)) == added then
    answer[2] = answer[2] + wake(queue.localId, queue.team_number, queue.live, queue.ready, queue.inFlight)
  end
end
-- From here on a resend finds the jobs done.
for block, fields in pairs(index_fields) do
  index_jobs(blocks[tonumber(block)], found_fields[block][1], ARGV.nonce, fields)
end
if #idem_fields > 0 then
  call('HSET', today, unpack(idem_fields))
  call('EXPIREAT', today, (math.floor(now / 86400000) + 2) * 86400)
end
for _, audit in ipairs(audits) do
  if is_made[tonumber(audit.position)] then
    AuditLog.add(audit.auditLog, audit.auditCounts, audit.entry, audit.most, audit.keptMs)
  end
end
local mark = IntakeMark.read(KEYS.intakeMark, ARGV.answered)
IntakeMark.write(KEYS.intakeMark, mark, ARGV.stepNumber, ARGV.markSeconds)
local lost = IntakeMark.lost(mark)
return (lost == '' and '' or 'lost ' .. lost .. ' ') .. table.concat(answer, ' ')
