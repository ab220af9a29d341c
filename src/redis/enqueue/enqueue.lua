#!lua
-- enqueue: takes a batch of new jobs of one shard. Sent twice, done once.
-- KEYS  1 clk  2 ex  3 names  4 near  5 mins  6 ring  7 set  8 setn  9 pushed  10 tu
--       11 teams  12 tn
--       then ix:<block> × blocks, idem:<day> × days, m:<minute> × minutes, (q r b p a pushed:<bucket>) × queues
-- ARGV  lease_ms, shards, shard, nonce, idem_max,
--       blocks, block…, days, day…, minutes, minute…,
--       settings hash, timeout and settings json of a new queue,
--       month, start of the next one, ceiling of the bytes of all or '',
--       teams, (team, ceilings of jobs, of bytes, of the month, each or '', share)…: ceilings as in lib/quota.lua,
--       queues, (team/name, local id, team index)…,
--       jobs, (request [, large] [, idem field, fingerprint])…
--       jobs: for each 'queue index, block index, field, start, timeout, marks;' with blanks between.
--       start: 'd<ms>' delay, 'a<ms>' absolute. timeout '' = the queue's. marks: l large follows, i idem field follows
--       request: the request part of the record; large: its tail for p:
-- Answer 'day' when the day of TIME or the one before is not declared, else 'now woken code a b …' with three words
--       a job:
--       ok id due · again id due (due -1: already ended) · dup id due · conflict - - · full - - · moved - - · taken - -
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

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end

local lease_ms, shards, shard, nonce, idem_max = number(), number(), number(), arg(), number()
local key_at = 12
local function take_keys(count)
  local taken = {}
  for i = 1, count do taken[i] = KEYS[key_at + i] end
  key_at = key_at + count
  return taken
end

local block_count = number()
local blocks, block_numbers = take_keys(block_count), {}
for i = 1, block_count do block_numbers[i] = number() end
local day_count = number()
local days, day_numbers = take_keys(day_count), {}
for i = 1, day_count do day_numbers[i] = number() end
local minute_count = number()
local minute_keys, minutes = take_keys(minute_count), {}
for i = 1, minute_count do minutes[number()] = minute_keys[i] end

local now = shard_now(KEYS[1], KEYS[2], lease_ms)
local now_text = pad13(now)

local new_queue = { hash = arg(), timeout = arg(), json = arg() }
Quota.bound(now, arg(), arg(), arg())
local teams = {}
for i = 1, number() do teams[i] = Quota.add_team(arg(), arg(), arg(), arg(), arg()) end

local today, has_yesterday
if day_count > 0 then
  local day = math.floor(now / 86400000)
  for i = 1, day_count do
    if day_numbers[i] == day then today = days[i] end
    if day_numbers[i] == day - 1 then has_yesterday = true end
  end
  if not (today and has_yesterday) then return 'day' end
end

-- Read and check everything.
local queues, fields = {}, {}
for i = 1, number() do
  local queue = { field = arg(), id = arg(), team = teams[number()] }
  local keys = take_keys(6)
  queue.q, queue.r, queue.b, queue.p, queue.a, queue.bucket = keys[1], keys[2], keys[3], keys[4], keys[5], keys[6]
  queues[i], fields[i] = queue, queue.field
end
local ids_now = call('HMGET', KEYS[3], unpack(fields))
for i, queue in ipairs(queues) do
  queue.moved = ids_now[i] ~= queue.id
  local live = call('HMGET', queue.q, 'a', 'm', 's', 't', 'u')
  queue.is_new = not live[3]
  queue.live = queue.is_new and { '1' } or live
  queue.u = live[5]
  queue.hash = live[3] or new_queue.hash
  queue.timeout = string.format('%03d', tonumber(live[4] or '') or new_queue.timeout)
  queue.bodies, queue.requests, queue.ready, queue.count, queue.bytes = {}, {}, {}, 0, 0
end

-- Each block is read once: its owner and the entries of this batch's jobs.
local jobs, block_fields = {}, {}
for queue, block, field, start, ms, timeout, marks in
  string.gmatch(arg(), '(%d+) (%d+) (%d+) (%a)(%S+) (%d*) (%a*);')
do
  local job = {
    queue = queues[tonumber(queue)], block = tonumber(block), field = field,
    start = start, ms = tonumber(ms), timeout = timeout, marks = marks,
  }
  jobs[#jobs + 1] = job
  local fields = block_fields[job.block]
  if not fields then
    fields = { 'o' }
    block_fields[job.block] = fields
  end
  fields[#fields + 1] = field
  job.place = #fields
end
local is_taken, found_fields = {}, {}
for block, fields in pairs(block_fields) do
  local found = call('HMGET', blocks[block], unpack(fields))
  is_taken[block] = (found[1] or nonce) ~= nonce
  found_fields[block] = found
end

local idem_size, seen_keys = nil, {}
-- Of a record without its request, about.
local HEAD_BYTES = 36

-- What an earlier push under this key answered; nil when there was none.
local function earlier_push(field)
  if seen_keys[field] then return seen_keys[field] end
  for i = 1, day_count do
    local found = call('HGET', days[i], field)
    if found then return found end
  end
end

local answer, index_fields, idem_fields = { now_text, 0 }, {}, {}
local near, buckets = {}, {}

local function place(queue, id, due)
  if due <= now then
    queue.ready[#queue.ready + 1] = id
    return 0
  end
  local minute = math.floor(due / 60000)
  if due - now > 60000 and minutes[minute] then
    buckets[minute] = buckets[minute] or {}
    table.insert(buckets[minute], queue.id .. '|' .. id .. '|' .. string.format('%.0f', due - minute * 60000))
    return 2
  end
  table.insert(near, pad13(due))
  table.insert(near, queue.id .. '|' .. id)
  return 0
end

local function plan(job)
  local queue, block, request = job.queue, job.block, arg()
  local large, field, fingerprint
  if job.marks ~= '' then
    large = string.find(job.marks, 'l', 1, true) and arg()
    if string.find(job.marks, 'i', 1, true) then field, fingerprint = arg(), arg() end
  end
  if queue.moved then return 'moved', '-', '-' end
  if is_taken[block] then return 'taken', '-', '-' end
  local seq = block_numbers[block] * 128 + tonumber(job.field)
  local id = string.format('%.0f', seq * 16 * shards + shard)
  if found_fields[block][job.place] then
    local body = call('HGET', queue.b, id)
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
    if idem_size >= idem_max then return 'full', '-', '-' end
  end
  local refusal = Quota.admit(KEYS[10], queue.team, HEAD_BYTES + #request + (large and #large or 0))
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
    table.insert(queue.requests, string.format('%.0f', seq))
    table.insert(queue.requests, large)
  end
  queue.count = count + 1
  local indexed = index_fields[block]
  if not indexed then
    indexed = {}
    index_fields[block] = indexed
  end
  local n = #indexed
  indexed[n + 1], indexed[n + 2] = job.field, queue.id
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
end

-- Writes that cannot fail: records, places, ring; the index and the idempotency keys last, when their jobs are in place.
local uses = {}
for _, queue in ipairs(queues) do
  if queue.count > 0 then
    uses[queue.hash] = (uses[queue.hash] or 0) + queue.count
    if queue.is_new then
      -- Before the queue itself: a resend no longer takes it for new.
      note_pushed(KEYS[9], queue.bucket, queue.id)
      queue.u = number_of_team(KEYS[12], queue.team.name)
      call('HSET', queue.q, 'n', queue.field, 's', new_queue.hash, 't', new_queue.timeout, 'a', '1', 'u', queue.u)
      call('HSETNX', KEYS[7], new_queue.hash, new_queue.json)
      uses[queue.hash] = uses[queue.hash] + 1
    end
    if #queue.requests > 0 then call('HSET', queue.p, unpack(queue.requests)) end
    call('HSET', queue.b, unpack(queue.bodies))
    Usage.note(queue.team.name, queue.bytes, queue.count, 0)
  end
end
for hash, count in pairs(uses) do call('HINCRBY', KEYS[8], hash, count) end
Usage.write(KEYS[10])
Quota.write(KEYS[10])
if #near > 0 then call('ZADD', KEYS[4], unpack(near)) end
for minute, entries in pairs(buckets) do
  call('ZADD', KEYS[5], minute, string.format('%.0f', minute))
  call('RPUSH', minutes[minute], unpack(entries))
end
use_ring(KEYS[6], KEYS[11])
for _, queue in ipairs(queues) do
  local added = #queue.ready
  -- A list that was not empty says that the queue is in the ring already, if it may be.
  if added > 0 and call('RPUSH', queue.r, unpack(queue.ready)) == added then
    answer[2] = answer[2] + wake(queue.id, queue.u, queue.live, queue.r, queue.a)
  end
end
-- From here on a resend finds the jobs done.
for block, fields in pairs(index_fields) do call('HSET', blocks[block], 'o', nonce, unpack(fields)) end
if #idem_fields > 0 then
  call('HSET', today, unpack(idem_fields))
  call('EXPIREAT', today, (math.floor(now / 86400000) + 2) * 86400)
end
return table.concat(answer, ' ')
