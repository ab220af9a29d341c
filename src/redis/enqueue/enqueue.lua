#!lua
-- enqueue: stores a batch of new jobs of one shard. Sent twice, it takes effect once.
-- plan: 'queue index, block index, field, start, timeout, marks;' for each job, with blanks between. start: 'd<ms>' delay,
--       'a<ms>' absolute · timeout: '' = the queue's · marks: l = large, i = idempotent.
-- requests: for each job request [, large] [, idempotency field, fingerprint]. request: the request part of the record;
--       large: its tail for `payloads`.
-- audits: an entry of the audit log for the job at this place of the plan, which somebody asked for.
-- newHash, newTimeout and newJson are the settings of a queue that the batch makes. Ceilings are as in lib/quota.lua.
-- Answer 'day' when Redis's day or the one before is not declared, else 'now woken code a b …' with three words a job:
--       ok id due · again id due (due -1: already ended) · dup id due · conflict - - · full - - · moved - - · taken - -
--       draining - - (its queue takes no new jobs)
--       by a quota: pendingJobs - - · storedBytes - - · share - - · jobsPerMonth - -; Redis is nearly full: room - -
-- Transition: (none) → pending.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/pushed
--#include lib/usage
--#include lib/team
--#include lib/quota
--#include lib/record
--#include audit-log/audit_log

local blocks = ROWS.blocks
local days = ROWS.days
local minute_rows = ROWS.minutes
local team_rows = ROWS.teams
local queues = ROWS.queues
local audits = ROWS.audits

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local now_text = pad13(now)
local shards, shard = tonumber(ARGV.shards), tonumber(ARGV.shard)

local today, has_yesterday
if #days > 0 then
  local day = math.floor(now / 86400000)
  for _, row in ipairs(days) do
    if tonumber(row.day) == day then today = row.idempotencyKeys end
    if tonumber(row.day) == day - 1 then has_yesterday = true end
  end
  if not (today and has_yesterday) then return 'day' end
end

-- Read and check everything.
local minutes, teams = {}, {}
for _, row in ipairs(minute_rows) do minutes[tonumber(row.minute)] = row.bucket end
Quota.bound(now, ARGV.month, ARGV.monthEndsMs, ARGV.allBytesMax)
for i, row in ipairs(team_rows) do
  teams[i] = Quota.add_team(row.team, row.jobsMax, row.bytesMax, row.monthMax, row.isShare)
end
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
local jobs, block_fields = {}, {}
for queue, block, field, start, ms, timeout, marks in
  string.gmatch(ARGV.plan, '(%d+) (%d+) (%d+) (%a)(%S+) (%d*) (%a*);')
do
  local job = {
    queue = queues[tonumber(queue)], block = tonumber(block), field = field,
    start = start, ms = tonumber(ms), timeout = timeout, marks = marks,
  }
  jobs[#jobs + 1] = job
  local fields = block_fields[job.block]
  if not fields then
    fields = { INDEX.owner }
    block_fields[job.block] = fields
  end
  fields[#fields + 1] = field
  job.place = #fields
end
local is_taken, found_fields = {}, {}
for block, fields in pairs(block_fields) do
  local found = call('HMGET', blocks[block].jobIndex, unpack(fields))
  is_taken[block] = (found[1] or ARGV.nonce) ~= ARGV.nonce
  found_fields[block] = found
end

local idem_size, seen_keys = nil, {}
-- Of a record without its request, about.
local HEAD_BYTES = 36

-- What an earlier push under this key answered; nil when there was none.
local function earlier_push(field)
  if seen_keys[field] then return seen_keys[field] end
  for _, row in ipairs(days) do
    local found = call('HGET', row.idempotencyKeys, field)
    if found then return found end
  end
end

local answer, index_fields, idem_fields = { now_text, 0 }, {}, {}
local near, buckets = {}, {}

local function place(queue, id, due)
  if due <= now then
    queue.ready_ids[#queue.ready_ids + 1] = id
    return 0
  end
  local minute = math.floor(due / 60000)
  if due - now > 60000 and minutes[minute] then
    buckets[minute] = buckets[minute] or {}
    table.insert(buckets[minute], queue.localId .. '|' .. id .. '|' .. string.format('%.0f', due - minute * 60000))
    return 2
  end
  table.insert(near, pad13(due))
  table.insert(near, queue.localId .. '|' .. id)
  return 0
end

local function plan(job)
  local queue, block, request = job.queue, job.block, next_arg()
  local large, field, fingerprint
  if job.marks ~= '' then
    large = string.find(job.marks, 'l', 1, true) and next_arg()
    if string.find(job.marks, 'i', 1, true) then field, fingerprint = next_arg(), next_arg() end
  end
  if queue.moved then return 'moved', '-', '-' end
  if is_taken[block] then return 'taken', '-', '-' end
  local seq = tonumber(blocks[block].block) * 128 + tonumber(job.field)
  local id = string.format('%.0f', seq * 16 * shards + shard)
  if found_fields[block][job.place] then
    local body = call('HGET', queue.records, id)
    return 'again', id, body and Record.due(body) or '-1'
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
  local refusal = Quota.admit(KEYS.teamUsage, queue.team, HEAD_BYTES + #request + (large and #large or 0))
  if refusal then return refusal, '-', '-' end
  if field then idem_size = idem_size + 1 end
  local due = job.start == 'd' and now + job.ms or math.max(now, job.ms)
  local due_text = due == now and now_text or pad13(due)
  local flags = place(queue, id, due) + (large and 1 or 0)
  local timeout = job.timeout == '' and queue.timeout or string.format('%03d', job.timeout)
  local lag = due > now and string.format('%.0f', due - now) or ''
  local head = due_text .. '10' .. flags .. timeout .. queue.hash .. lag .. '|'
  local body = head .. request
  -- By index: table.insert takes twice as long, and this is done for each job.
  local bodies, count = queue.bodies, queue.count
  bodies[count * 2 + 1], bodies[count * 2 + 2] = id, body
  queue.bytes = queue.bytes + #body + (large and #large or 0)
  if large then
    table.insert(queue.large, string.format('%.0f', seq))
    table.insert(queue.large, large)
  end
  queue.count = count + 1
  local indexed = index_fields[block]
  if not indexed then
    indexed = {}
    index_fields[block] = indexed
  end
  local n = #indexed
  indexed[n + 1], indexed[n + 2] = job.field, queue.localId
  if field then
    seen_keys[field] = fingerprint .. ' ' .. id .. ' ' .. due_text
    table.insert(idem_fields, field)
    table.insert(idem_fields, seen_keys[field])
  end
  return 'ok', id, due_text
end

for _, job in ipairs(jobs) do
  local code, a, b = plan(job)
  local n = #answer
  answer[n + 1], answer[n + 2], answer[n + 3] = code, a, b
  job.is_new = code == 'ok'
end

-- Writes that cannot fail: records, places, ring; the index and the idempotency keys last, when their jobs are in place.
local uses = {}
for _, queue in ipairs(queues) do
  if queue.count > 0 then
    uses[queue.hash] = (uses[queue.hash] or 0) + queue.count
    if queue.is_new then
      -- Before the queue itself: a resend no longer takes it for new.
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
for block, fields in pairs(index_fields) do call('HSET', blocks[block].jobIndex, INDEX.owner, ARGV.nonce, unpack(fields)) end
if #idem_fields > 0 then
  call('HSET', today, unpack(idem_fields))
  call('EXPIREAT', today, (math.floor(now / 86400000) + 2) * 86400)
end
for _, audit in ipairs(audits) do
  if jobs[tonumber(audit.position)].is_new then AuditLog.write(audit.auditLog, audit.entry, audit.most, audit.keptMs) end
end
return table.concat(answer, ' ')
