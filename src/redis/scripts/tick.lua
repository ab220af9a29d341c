#!lua
-- tick: decides about due ticks as the caller computed, cron by cron: makes the runs, notes what did not run, sets the
-- next tick. A cron whose version or expected tick is another by now is left alone, so that a tick is decided about once
-- however many try; sent twice, done once. Without an expected tick a run is made by hand, and no tick is touched.
-- KEYS  1 clk  2 ex  3 names  4 ring  5 set  6 setn  7 pushed  8 crons  9 ks
--       then kr:<cron> × crons, ix:<block> × blocks, (q r b p a pushed:<bucket>) × queues with a name,
--       (q r b p) × crons with runs in their hidden queue
-- ARGV  lease_ms, shards, shard, nonce, records_max,
--       defaults, (hash, timeout, max, active, strict, json)…: the first are those of hidden queues,
--       blocks, teams, team…, queues, (team/name, local id, defaults index)…,
--       crons, runs, (request [, large])…
--       crons: for each 'id version expected next forbids ended team queue missed;' with blanks between.
--       expected, next: tick, or '-' for none · forbids: 1 or 0 · ended: root id of a run known to have ended, or '-'
--       team: index · queue: index, 0 = the hidden one · missed: its record, or '-'
--       runs: for each, in the order of their crons, 'cron index block index seq tick timeout mark;'
--       timeout '-' = the queue's · mark: l large follows, or '-'
--       request: the request part of the record; large: its tail for p:
-- Answer 'now woken code a …' with two words a cron: d done (due of the last run or '-') · o another version or tick by
--       now · e early · m the queue has moved · t a block is another's · r still running (root id) · n no such cron
-- A record of kr: is kind|tick|root: r running, s succeeded, f failed (upper case: made by hand), k skipped; of missed
--       ticks m|last tick|how many.
-- Transition: (none) → pending.
--#include clock
--#include ring
--#include pushed
--#include cron

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end

local lease_ms, shards, shard, nonce, records_max = number(), number(), number(), arg(), number()
local key_at = 9
local function key() key_at = key_at + 1; return KEYS[key_at] end
local defaults = {}
for i = 1, number() do
  defaults[i] = { hash = arg(), timeout = arg(), max = arg(), active = arg(), strict = arg(), json = arg() }
end
local now = shard_now(KEYS[1], KEYS[2], lease_ms)
local now_text = pad13(now)
local block_count = number()
local teams = {}
for i = 1, number() do teams[i] = arg() end
local named = {}
for i = 1, number() do named[i] = { field = arg(), id = arg(), default = defaults[number()] } end

-- Read and check everything.
local crons, ids = {}, {}
for id, version, expected, next_tick, forbids, ended, team, queue, missed in
  string.gmatch(arg(), '(%d+) (%d+) (%S+) (%S+) (%d) (%S+) (%d+) (%d+) (%S+);')
do
  local index = #ids + 1
  crons[index] = {
    id = id, list = key(), version = version, expected = expected, next = next_tick, forbids = forbids == '1',
    ended = ended, team = team, queue = named[tonumber(queue)], missed = missed, runs = {},
  }
  ids[index] = id
end
local blocks, block_fields = {}, {}
for i = 1, block_count do
  blocks[i] = key()
  block_fields[i] = { 'o' }
end
local all_runs = {}
for index, block, seq, tick, timeout, mark in string.gmatch(arg(), '(%d+) (%d+) (%d+) (%d+) (%S+) (%S);') do
  local run = { block = tonumber(block), seq = tonumber(seq), tick = tick, timeout = timeout }
  run.request = arg()
  run.large = mark == 'l' and arg()
  local fields = block_fields[run.block]
  run.field = string.format('%.0f', run.seq % 128)
  fields[#fields + 1] = run.field
  run.place = #fields
  all_runs[#all_runs + 1] = run
  local runs = crons[tonumber(index)].runs
  runs[#runs + 1] = run
end
local is_taken = {}
local found_fields = {}
for block, fields in ipairs(block_fields) do
  local found = call('HMGET', blocks[block], unpack(fields))
  is_taken[block] = (found[1] or nonce) ~= nonce
  found_fields[block] = found
end
for _, run in ipairs(all_runs) do run.seen = found_fields[run.block][run.place] end

local queues = {}
local function open(queue, keys)
  queue.q, queue.r, queue.b, queue.p, queue.a, queue.bucket = keys[1], keys[2], keys[3], keys[4], keys[5], keys[6]
  queue.bodies, queue.requests, queue.ready, queue.count = {}, {}, {}, 0
  queues[#queues + 1] = queue
end
for _, queue in ipairs(named) do
  open(queue, { key(), key(), key(), key(), key(), key() })
  queue.moved = call('HGET', KEYS[3], queue.field) ~= queue.id
  local live = call('HMGET', queue.q, 'a', 'm', 's', 't')
  queue.is_new = not live[3]
  -- A queue that exists without a limit has none, whatever new ones get.
  queue.live = queue.is_new and { queue.default.active, queue.default.max } or live
  queue.hash = live[3] or queue.default.hash
  queue.timeout = live[4] or queue.default.timeout
end
-- A hidden queue has no limit and no pause, and bears its cron's id.
local hidden = defaults[1]
for _, cron in ipairs(crons) do
  if not cron.queue and #cron.runs > 0 then
    local id = string.format('%.0f', math.floor(tonumber(cron.id) / shards))
    local queue = { field = teams[tonumber(cron.team)] .. '/', id = id, cron = cron.id, default = hidden }
    open(queue, { key(), key(), key(), key() })
    local hash = call('HGET', queue.q, 's')
    queue.is_new = not hash
    queue.hash = hash or hidden.hash
    queue.timeout = hidden.timeout
    cron.queue = queue
  end
end
local states = call('HMGET', KEYS[9], unpack(ids))

local index_fields, changed, due_next, gone = {}, {}, {}, {}

local function push(list, a, b)
  local n = #list
  list[n + 1], list[n + 2] = a, b
end

local function start(queue, state, run, due)
  local id = string.format('%.0f', run.seq * 16 * shards + shard)
  local limit = run.timeout ~= '-' and run.timeout or queue.timeout
  local lag = due ~= now and string.format('%.0f', due - now) or ''
  push(queue.bodies, id, pad13(due) .. '10' .. (run.large and 1 or 0) .. string.format('%03d', limit) .. queue.hash
    .. lag .. '|' .. run.request)
  if run.large then push(queue.requests, string.format('%.0f', run.seq), run.large) end
  queue.ready[#queue.ready + 1] = id
  queue.count = queue.count + 1
  index_fields[run.block] = index_fields[run.block] or {}
  push(index_fields[run.block], run.field, queue.id)
  state.running = id
  return id
end

local function plan(cron, text)
  if not text then return 'n', '-' end
  local state = Cron.parse(text)
  local by_hand = cron.expected == '-'
  local first = cron.runs[1]
  if by_hand and first.seen and not is_taken[first.block] then return 'd', now_text end
  -- What is noted where it leaves may not go along.
  local is_retired = state.active == 'r' or state.active == 'p'
  if state.version ~= cron.version or is_retired
    or (not by_hand and (state.tick ~= cron.expected or state.active ~= '1')) then
    return 'o', '-'
  end
  for _, run in ipairs(cron.runs) do
    if tonumber(run.tick) + state.spread > now and not by_hand then return 'e', '-' end
    if is_taken[run.block] then return 't', '-' end
  end
  if first and cron.queue.moved then return 'm', '-' end
  if state.running == cron.ended then state.running = '' end
  if by_hand and cron.forbids and state.running ~= '' then return 'r', state.running end

  cron.records = {}
  if cron.missed ~= '-' then table.insert(cron.records, cron.missed) end
  local last = '-'
  for _, run in ipairs(cron.runs) do
    if cron.forbids and state.running ~= '' then
      table.insert(cron.records, 'k|' .. run.tick .. '|')
    else
      local due = by_hand and now or tonumber(run.tick) + state.spread
      local id = start(cron.queue, state, run, due)
      table.insert(cron.records, (by_hand and 'R|' or 'r|') .. run.tick .. '|' .. id)
      last = pad13(due)
    end
  end
  if not by_hand then
    state.tick = cron.next == '-' and '' or cron.next
    local due = Cron.due(state)
    if due then push(due_next, due, cron.id) else table.insert(gone, cron.id) end
  end
  push(changed, cron.id, Cron.format(state))
  return 'd', last
end

local answer = { now_text, 0 }
for i, cron in ipairs(crons) do push(answer, plan(cron, states[i])) end

-- Writes that cannot fail: records, places, ring, as enqueue does.
local uses, known_settings = {}, {}
for _, queue in ipairs(queues) do
  if queue.count > 0 then
    uses[queue.hash] = (uses[queue.hash] or 0) + queue.count
    if queue.is_new then
      local default = queue.default
      local fields = { 'n', queue.field, 's', default.hash, 't', default.timeout, 'a', default.active }
      if queue.cron then push(fields, 'o', queue.cron) else note_pushed(KEYS[7], queue.bucket, queue.id) end
      if default.max ~= '' then push(fields, 'm', default.max) end
      if default.strict == '1' then push(fields, 'k', '1') end
      call('HSET', queue.q, unpack(fields))
      if not known_settings[default.hash] then
        known_settings[default.hash] = true
        call('HSETNX', KEYS[5], default.hash, default.json)
      end
      uses[queue.hash] = uses[queue.hash] + 1
    end
    if #queue.requests > 0 then call('HSET', queue.p, unpack(queue.requests)) end
    call('HSET', queue.b, unpack(queue.bodies))
  end
end
for hash, count in pairs(uses) do call('HINCRBY', KEYS[6], hash, count) end
for _, queue in ipairs(queues) do
  local added = #queue.ready
  -- A list that was not empty says that the queue is in the ring already, if it may be.
  if added > 0 and call('RPUSH', queue.r, unpack(queue.ready)) == added then
    if queue.cron then
      answer[2] = answer[2] + enter_ring(KEYS[4], queue.id)
    else
      answer[2] = answer[2] + wake(KEYS[4], queue.id, queue.live, queue.r, queue.a)
    end
  end
end
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
