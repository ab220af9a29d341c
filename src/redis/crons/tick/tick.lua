#!lua
-- tick: decides about due ticks as the caller computed, cron by cron: makes the runs, notes what did not run, sets the
-- next tick. A cron whose version or expected tick is another by now is left alone, so that a tick is decided about once
-- however many try; sent twice, done once. Without an expected tick a run is made by hand, and no tick is touched.
-- KEYS  1 clk  2 ex  3 names  4 ring  5 set  6 setn  7 pushed  8 crons  9 ks  10 tu  11 teams  12 tn
--       then kr:<cron> × crons, ix:<block> × blocks, (q r b p a pushed:<bucket>) × queues with a name,
--       (q r b p) × crons with runs in their hidden queue
-- ARGV  lease_ms, shards, shard, nonce, records_max,
--       settings hash, timeout and settings json of a new hidden queue, then those of one with a name,
--       blocks, month, start of the next one, teams, team…, queues, (team/name, local id)…,
--       crons, runs, (request [, large])…
--       crons: for each 'id version expected next forbids ended team queue missed;' with blanks between.
--       expected, next: tick, or '-' for none · forbids: 1 or 0 · ended: root id of a run known to have ended, or '-'
--       team: index · queue: index, 0 = the hidden one · missed: its record, or '-'
--       runs: for each, in the order of their crons, 'cron index block index field root id tick timeout mark;'
--       timeout: three digits · mark: l large follows, or '-'
--       request: the request part of the record; large: its tail for p:
-- Answer 'now woken code a …' with two words a cron: d done (due of the last run or '-') · o another version or tick by
--       now · e early · m the queue has moved · t a block is another's · r still running (root id) · n no such cron, or one whose state is damaged
--       s a run by hand, and the team holds its share of what is free. 'full' instead of all when Redis is nearly full
-- A record of kr: is kind|tick|root: r running, s succeeded, f failed (upper case: made by hand), k skipped; of missed
--       ticks m|last tick|how many, also of one whose team holds its share of what is free.
-- Transition: (none) → pending.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/pushed
--#include lib/team
--#include lib/cron
--#include lib/usage
--#include lib/quota
--#include lib/memory

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end

local lease_ms, shards, shard, nonce, records_max = number(), number(), number(), arg(), number()
local key_at = 12
local function key() key_at = key_at + 1; return KEYS[key_at] end
local new_hidden = { hash = arg(), timeout = arg(), json = arg() }
local new_named = { hash = arg(), timeout = arg(), json = arg() }
local now = shard_now(KEYS[1], KEYS[2], lease_ms)
local now_text = pad13(now)
local block_count = number()
local teams = {}
Quota.bound(now, arg(), arg(), '')
for i = 1, number() do teams[i] = Quota.add_team(arg(), '', '', '', '') end
local named = {}
for i = 1, number() do named[i] = { field = arg(), id = arg(), initial = new_named } end

-- Read and check everything.
local crons, ids = {}, {}
for id, version, expected, next_tick, forbids, ended, team, queue, missed in
  string.gmatch(arg(), '(%d+) (%d+) (%S+) (%S+) (%d) (%S+) (%d+) (%d+) (%S+);')
do
  local index = #ids + 1
  crons[index] = {
    id = id, list = key(), version = version, expected = expected, next = next_tick, forbids = forbids == '1',
    ended = ended, team = team, queue = named[tonumber(queue)], missed = missed,
  }
  ids[index] = id
end
local blocks, block_fields, runs_asked = {}, {}, 0
for i = 1, block_count do
  blocks[i] = key()
  block_fields[i] = { 'o' }
end
for index, block, field, id, tick, timeout, mark in
  string.gmatch(arg(), '(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S);')
do
  block = tonumber(block)
  local fields = block_fields[block]
  local place = #fields + 1
  fields[place] = field
  local run = {
    block = block, field = field, place = place, id = id, tick = tick, timeout = timeout, request = arg(),
    large = mark == 'l' and arg(),
  }
  runs_asked = runs_asked + 1
  local cron = crons[tonumber(index)]
  if cron.runs then cron.runs[#cron.runs + 1] = run else cron.runs = { run } end
end
local is_taken, found_fields = {}, {}
for block, fields in ipairs(block_fields) do
  local found = call('HMGET', blocks[block], unpack(fields))
  is_taken[block] = (found[1] or nonce) ~= nonce
  found_fields[block] = found
end

local queues = {}
for i, queue in ipairs(named) do
  queue.q, queue.r, queue.b, queue.p, queue.a, queue.bucket = key(), key(), key(), key(), key(), key()
  queue.moved = call('HGET', KEYS[3], queue.field) ~= queue.id
  local live = call('HMGET', queue.q, 'a', 'm', 's', 'u')
  queue.is_new = not live[3]
  queue.live = queue.is_new and { '1' } or live
  queue.hash, queue.u = live[3] or new_named.hash, live[4]
  queues[i] = queue
end
-- A hidden queue has no limit and no pause, and bears its cron's id.
for _, cron in ipairs(crons) do
  if not cron.queue and cron.runs then
    local settings_key = key()
    local live = call('HMGET', settings_key, 's', 'u')
    local hash = live[1]
    cron.queue = {
      q = settings_key, r = key(), b = key(), p = key(), id = string.format('%.0f', math.floor(tonumber(cron.id) / shards)),
      cron = cron, initial = new_hidden, is_new = not hash, hash = hash or new_hidden.hash, u = live[2],
    }
    queues[#queues + 1] = cron.queue
  end
end
local states = call('HMGET', KEYS[9], unpack(ids))

-- Above so many hundredths of the memory only retries and ends still come. What is free below it is nobody's alone: a team
-- whose runs pile up holds no more than so many times as much.
local TICKS_STOP_AT, SHARE_OF_FREE = 97, 4
local share
if runs_asked > 0 then
  local _, used, max = Memory.read()
  if max > 0 and used >= max * TICKS_STOP_AT / 100 then return 'full' end
  share = max > 0 and SHARE_OF_FREE * (max * TICKS_STOP_AT / 100 - used) or nil
end

local index_fields, changed, due_next, gone = {}, {}, {}, {}

local function push(list, a, b)
  local n = #list
  list[n + 1], list[n + 2] = a, b
end

-- Plans a job of the queue.
local function start(queue, run, due, due_text)
  local lag = due ~= now and string.format('%.0f', due - now) or ''
  local body = due_text .. (run.large and '101' or '100') .. run.timeout .. queue.hash .. lag .. '|' .. run.request
  queue.bytes = (queue.bytes or 0) + #body + (run.large and #run.large or 0)
  if queue.ready then
    queue.ready[#queue.ready + 1] = run.id
    push(queue.bodies, run.id, body)
  else
    queue.ready, queue.bodies = { run.id }, { run.id, body }
  end
  if run.large then
    queue.requests = queue.requests or {}
    push(queue.requests, string.format('%.0f', math.floor(tonumber(run.id) / (16 * shards))), run.large)
  end
  local fields = index_fields[run.block]
  if not fields then
    fields = {}
    index_fields[run.block] = fields
  end
  push(fields, run.field, queue.id)
end

local function plan(cron, text)
  if not text then return 'n', '-' end
  local head, version, active, spread, tick, running, tail = Cron.parse_tick(text)
  if not head then return 'n', '-' end
  local by_hand = cron.expected == '-'
  local runs = cron.runs or {}
  local first = runs[1]
  if by_hand and found_fields[first.block][first.place] and not is_taken[first.block] then return 'd', now_text end
  -- What is noted where it leaves may not go along.
  local is_retired = active == 'r' or active == 'p'
  if version ~= cron.version or is_retired or (not by_hand and (tick ~= cron.expected or active ~= '1')) then
    return 'o', '-'
  end
  for _, run in ipairs(runs) do
    if tonumber(run.tick) + spread > now and not by_hand then return 'e', '-' end
    if is_taken[run.block] then return 't', '-' end
  end
  -- A clock of the caller's that is ahead must not take a tick that is still to come.
  local missed_last = cron.missed ~= '-' and tonumber(string.match(cron.missed, '^m|(%d+)'))
  if missed_last and missed_last + spread > now then return 'e', '-' end
  if first and cron.queue.moved then return 'm', '-' end
  if running == cron.ended then running = '' end
  if by_hand and cron.forbids and running ~= '' then return 'r', running end

  local records, last = { cron.missed ~= '-' and cron.missed or nil }, '-'
  for _, run in ipairs(runs) do
    if cron.forbids and running ~= '' then
      records[#records + 1] = 'k|' .. run.tick .. '|'
    elseif not Quota.admit_run(KEYS[10], teams[tonumber(cron.team)], #run.request + (run.large and #run.large or 0), share) then
      if by_hand then return 's', '-' end
      records[#records + 1] = 'm|' .. run.tick .. '|1'
    else
      local due, due_text = now, now_text
      if not by_hand then
        due = tonumber(run.tick) + spread
        due_text = spread == 0 and run.tick or pad13(due)
      end
      start(cron.queue, run, due, due_text)
      running = run.id
      records[#records + 1] = (by_hand and 'R|' or 'r|') .. run.tick .. '|' .. running
      last = due_text
    end
  end
  cron.records = records
  if not by_hand then
    tick = cron.next == '-' and '' or cron.next
    if tick == '' then table.insert(gone, cron.id) else push(due_next, tonumber(tick) + spread, cron.id) end
  end
  push(changed, cron.id, head .. tick .. '|' .. running .. tail)
  return 'd', last
end

local answer = { now_text, 0 }
for i, cron in ipairs(crons) do push(answer, plan(cron, states[i])) end

-- Writes that cannot fail: records, places, ring, as enqueue does.
local uses, known_settings = {}, {}
for _, queue in ipairs(queues) do
  if queue.ready then
    uses[queue.hash] = (uses[queue.hash] or 0) + #queue.ready
    if queue.is_new then
      local initial, cron = queue.initial, queue.cron
      local field = cron and teams[tonumber(cron.team)].name .. '/' or queue.field
      queue.u = number_of_team(KEYS[12], Usage.team_of(field))
      local fields = { 'n', field, 's', initial.hash, 't', initial.timeout, 'a', '1', 'u', queue.u }
      if cron then push(fields, 'o', cron.id) else note_pushed(KEYS[7], queue.bucket, queue.id) end
      call('HSET', queue.q, unpack(fields))
      if not known_settings[initial.hash] then
        known_settings[initial.hash] = true
        call('HSETNX', KEYS[5], initial.hash, initial.json)
      end
      uses[queue.hash] = uses[queue.hash] + 1
    end
    if queue.requests then call('HSET', queue.p, unpack(queue.requests)) end
    call('HSET', queue.b, unpack(queue.bodies))
    local team = queue.cron and teams[tonumber(queue.cron.team)].name or Usage.team_of(queue.field)
    Usage.note(team, queue.bytes, #queue.ready, 0)
  end
end
Usage.write(KEYS[10])
Quota.write(KEYS[10])
for hash, count in pairs(uses) do call('HINCRBY', KEYS[6], hash, count) end
local entering = {}
use_ring(KEYS[4], KEYS[11])
for _, queue in ipairs(queues) do
  local added = queue.ready and #queue.ready
  -- A list that was not empty says that the queue is in the ring already, if it may be.
  if added and call('RPUSH', queue.r, unpack(queue.ready)) == added then
    if queue.cron then
      push(entering, entry_of(queue.u or '0'), queue.id)
    else
      answer[2] = answer[2] + wake(queue.id, queue.u, queue.live, queue.r, queue.a)
    end
  end
end
if #entering > 0 then answer[2] = answer[2] + call('ZADD', KEYS[4], 'NX', unpack(entering)) end
for block, fields in pairs(index_fields) do call('HSET', blocks[block], 'o', nonce, unpack(fields)) end
for _, cron in ipairs(crons) do
  if cron.records and #cron.records > 0 and call('LPUSH', cron.list, unpack(cron.records)) > records_max then
    call('LTRIM', cron.list, 0, records_max - 1)
  end
end
-- From here on a resend finds the ticks decided about.
if #changed > 0 then call('HSET', KEYS[9], unpack(changed)) end
if #due_next > 0 then call('ZADD', KEYS[8], unpack(due_next)) end
if #gone > 0 then call('ZREM', KEYS[8], unpack(gone)) end
return table.concat(answer, ' ')
