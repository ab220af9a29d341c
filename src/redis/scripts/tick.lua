#!lua
-- tick: decides about due ticks as the caller computed, cron by cron: makes the runs, notes what did not run, sets the
-- next tick. A cron whose version or expected tick is another by now is left alone, so that a tick is decided about once
-- however many try; sent twice, done once. Without an expected tick a run is made by hand, and no tick is touched.
-- KEYS  1 clk  2 ex  3 names  4 ring  5 set  6 setn  7 pushed  8 crons  9 ks
--       then kr:<cron> × crons, ix:<block> × blocks, (q r b p a pushed:<bucket>) × queues
-- ARGV  lease_ms, shards, shard, nonce, records_max,
--       crons, blocks,
--       defaults, (hash, timeout, max, active, strict, json)…,
--       queues, (team/name, local id, cron id of a hidden one or '', defaults index)…,
--       then for each cron: cron id, version, expected tick or '', next tick or '', forbids (1 or 0), root id of a run
--       known to have ended or '', queue index, missed record or '', runs,
--       (block index, seq, tick, timeout, request, large)…
--       timeout '' = the queue's. request: the request part of the record; large: its tail for p:, or ''
-- Answer {now, woken, (code, a)…}: d done (due of the last run or '') · o another version or tick by now · e early ·
--       m the queue has moved · t a block is another's · r still running (root id) · n no such cron
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
local function take_keys(count)
  local taken = {}
  for i = 1, count do taken[i] = KEYS[key_at + i] end
  key_at = key_at + count
  return taken
end
local cron_count = number()
local lists = take_keys(cron_count)
local blocks = take_keys(number())
local defaults = {}
for i = 1, number() do
  defaults[i] = { hash = arg(), timeout = arg(), max = arg(), active = arg(), strict = arg(), json = arg() }
end
local now = shard_now(KEYS[1], KEYS[2], lease_ms)

-- Read and check everything.
local queues = {}
for i = 1, number() do
  local queue = { field = arg(), id = arg(), cron = arg(), default = defaults[number()] }
  local keys = take_keys(6)
  queue.q, queue.r, queue.b, queue.p, queue.a, queue.bucket = keys[1], keys[2], keys[3], keys[4], keys[5], keys[6]
  queue.moved = queue.cron == '' and call('HGET', KEYS[3], queue.field) ~= queue.id
  local live = call('HMGET', queue.q, 'a', 'm', 's', 't')
  queue.is_new = not live[3]
  -- A queue that exists without a limit has none, whatever new ones get.
  queue.live = queue.is_new and { queue.default.active, queue.default.max } or live
  queue.hash = live[3] or queue.default.hash
  queue.timeout = live[4] or queue.default.timeout
  queue.bodies, queue.requests, queue.ready, queue.count = {}, {}, {}, 0
  queues[i] = queue
end

local crons, ids, block_fields = {}, {}, {}
for i = 1, cron_count do
  local cron = {
    id = arg(), list = lists[i], version = arg(), expected = arg(), next = arg(), forbids = arg() == '1', ended = arg(),
    queue = queues[number()], missed = arg(), runs = {},
  }
  for j = 1, number() do
    local run = { block = number(), seq = arg(), tick = arg(), timeout = arg(), request = arg(), large = arg() }
    cron.runs[j] = run
    local fields = block_fields[run.block]
    if not fields then
      fields = { names = { 'o' }, runs = {} }
      block_fields[run.block] = fields
    end
    run.field = string.format('%.0f', tonumber(run.seq) % 128)
    table.insert(fields.names, run.field)
    table.insert(fields.runs, run)
  end
  crons[i], ids[i] = cron, cron.id
end
local is_taken = {}
for block, fields in pairs(block_fields) do
  local found = call('HMGET', blocks[block], unpack(fields.names))
  is_taken[block] = (found[1] or nonce) ~= nonce
  for i, run in ipairs(fields.runs) do run.seen = found[i + 1] end
end
local states = call('HMGET', KEYS[9], unpack(ids))

local index_fields, changed, due_next, gone = {}, {}, {}, {}

local function start(cron, state, run, due)
  local queue = cron.queue
  local id = string.format('%.0f', tonumber(run.seq) * 16 * shards + shard)
  local limit = run.timeout ~= '' and run.timeout or queue.timeout
  local lag = due ~= now and string.format('%.0f', due - now) or ''
  local large = run.large ~= '' and 1 or 0
  table.insert(queue.bodies, id)
  table.insert(queue.bodies, pad13(due) .. '10' .. large .. string.format('%03d', limit) .. queue.hash .. lag .. '|'
    .. run.request)
  if large == 1 then
    table.insert(queue.requests, run.seq)
    table.insert(queue.requests, run.large)
  end
  table.insert(queue.ready, id)
  queue.count = queue.count + 1
  index_fields[run.block] = index_fields[run.block] or {}
  table.insert(index_fields[run.block], run.field)
  table.insert(index_fields[run.block], queue.id)
  state.running = id
  return id
end

local function plan(cron, text)
  if not text then return 'n', '' end
  local state = Cron.parse(text)
  local by_hand = cron.expected == ''
  local first = cron.runs[1]
  if by_hand and first.seen then return 'd', pad13(now) end
  if state.version ~= cron.version or (not by_hand and (state.tick ~= cron.expected or state.active ~= '1')) then
    return 'o', ''
  end
  for _, run in ipairs(cron.runs) do
    if tonumber(run.tick) + state.spread > now and not by_hand then return 'e', '' end
    if is_taken[run.block] then return 't', '' end
  end
  if first and cron.queue.moved then return 'm', '' end
  if state.running == cron.ended then state.running = '' end
  if by_hand and cron.forbids and state.running ~= '' then return 'r', state.running end

  cron.records = {}
  if cron.missed ~= '' then table.insert(cron.records, cron.missed) end
  local last = ''
  for _, run in ipairs(cron.runs) do
    if cron.forbids and state.running ~= '' then
      table.insert(cron.records, 'k|' .. run.tick .. '|')
    else
      local due = by_hand and now or tonumber(run.tick) + state.spread
      local id = start(cron, state, run, due)
      table.insert(cron.records, (by_hand and 'R|' or 'r|') .. run.tick .. '|' .. id)
      last = pad13(due)
    end
  end
  if not by_hand then
    state.tick = cron.next
    local due = Cron.due(state)
    if due then
      table.insert(due_next, due)
      table.insert(due_next, cron.id)
    else
      table.insert(gone, cron.id)
    end
  end
  table.insert(changed, cron.id)
  table.insert(changed, Cron.format(state))
  return 'd', last
end

local answer = { pad13(now), 0 }
for i, cron in ipairs(crons) do
  local code, a = plan(cron, states[i])
  table.insert(answer, code)
  table.insert(answer, a)
end

-- Writes that cannot fail: records, places, ring, as enqueue does.
local uses, known_settings = {}, {}
for _, queue in ipairs(queues) do
  if queue.count > 0 then
    uses[queue.hash] = (uses[queue.hash] or 0) + queue.count
    if queue.is_new then
      local default = queue.default
      local fields = { 'n', queue.field, 's', default.hash, 't', default.timeout, 'a', default.active }
      local function set(name, value)
        table.insert(fields, name)
        table.insert(fields, value)
      end
      if queue.cron ~= '' then set('o', queue.cron) else note_pushed(KEYS[7], queue.bucket, queue.id) end
      if default.max ~= '' then set('m', default.max) end
      if default.strict == '1' then set('k', '1') end
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
-- A hidden queue has no limit and no pause: one that was empty enters the ring.
for _, queue in ipairs(queues) do
  local added = #queue.ready
  if added > 0 and call('RPUSH', queue.r, unpack(queue.ready)) == added then
    if queue.cron == '' then
      answer[2] = answer[2] + wake(KEYS[4], queue.id, queue.live, queue.r, queue.a)
    else
      answer[2] = answer[2] + enter_ring(KEYS[4], queue.id)
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
return answer
