#!lua flags=allow-oom
-- claim: gives an executor a batch of ready jobs; the entry in a: is the slot. The same request id gives the same batch.
-- KEYS  1 clk  2 ex  3 in:<executor>  4 ring  5 tok  6 set  7 near  8 tu, then (q r b a p) × candidates
-- ARGV  lease_ms, executor, request id, jobs wanted, bytes max, quantum, grace_ms, known token, offset, names wanted,
--       shards, candidates, local id…
-- Answer {'lost'} when the lease is gone, else
--       {'ok', now, token, next due or '', ring size, {candidate…}, {id, queue index, record, request or ''…},
--        {queue index, team/name…}, {settings hash, json…}}
-- Transition: pending → processing.
--#include clock
--#include usage

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end

local lease_ms, executor, request_id = number(), arg(), arg()
local wanted, bytes_max, quantum, grace_ms = number(), number(), number(), number()
local known_token, offset, names_wanted, shards = number(), number(), number(), number()
local held_key, ring = KEYS[3], KEYS[4]

local now = shard_now(KEYS[1], KEYS[2], lease_ms)
local lease = call('ZSCORE', KEYS[2], executor)
if not lease or tonumber(lease) <= now then return { 'lost' } end

local queues, by_id = {}, {}
for i = 1, number() do
  local base = 8 + (i - 1) * 5
  local queue = { index = i, id = arg(), q = KEYS[base + 1], r = KEYS[base + 2], b = KEYS[base + 3], a = KEYS[base + 4], p = KEYS[base + 5] }
  queues[i], by_id[queue.id] = queue, queue
end

local jobs, names, settings = {}, {}, {}
local hashes, named, bytes = {}, {}, 0

local function add_job(queue, id, body, request)
  table.insert(jobs, id)
  table.insert(jobs, queue.index)
  table.insert(jobs, body)
  table.insert(jobs, request)
  bytes = bytes + #body + #request
  local hash = string.sub(body, 20, 30)
  if not hashes[hash] then
    hashes[hash] = true
    table.insert(settings, hash)
    table.insert(settings, call('HGET', KEYS[6], hash) or '')
  end
  if not named[queue.index] then
    named[queue.index] = true
    table.insert(names, queue.index)
    table.insert(names, queue.name or call('HGET', queue.q, 'n') or '')
  end
end

-- The tail of the request part of a record whose flags say that it lies in p:.
local function request_of(queue, id, body)
  if tonumber(string.sub(body, 16, 16)) % 2 == 0 then return '' end
  return call('HGET', queue.p, string.format('%.0f', math.floor(tonumber(id) / (16 * shards)))) or ''
end

local function next_names()
  local size = call('ZCARD', ring)
  if size <= names_wanted then return size, call('ZRANGE', ring, 0, names_wanted - 1) end
  local head = math.ceil(names_wanted / 4)
  local found = call('ZRANGE', ring, 0, head - 1)
  local start = head + offset % (size - head)
  for _, id in ipairs(call('ZRANGE', ring, start, start + names_wanted - head - 1)) do table.insert(found, id) end
  return size, found
end

local function answer(token)
  local size, candidates = next_names()
  local due = call('ZRANGE', KEYS[7], 0, 0, 'WITHSCORES')
  return { 'ok', pad13(now), token, due[2] or '', size, candidates, jobs, names, settings }
end

-- A lost answer: the same jobs again, as far as they are still held under that claim's token.
local last = call('HGET', held_key, '#c')
if last then
  local same, token, ids = string.match(last, '^(%S+) (%d+) (.*)$')
  if same == request_id then
    for id in string.gmatch(ids, '%d+') do
      local q, held_token = string.match(call('HGET', held_key, id) or '', '^(%d+)|(%d+)$')
      if held_token == token and by_id[q] then
        local body = call('HGET', by_id[q].b, id)
        if body then add_job(by_id[q], id, body, request_of(by_id[q], id, body)) end
      end
    end
    return answer(token)
  end
end

-- Reads from the head of the queue's ready list up to `count` jobs that exist; ids of cancelled jobs are passed over,
-- so many in one claim: a million of them must not hold Redis up. The queue stays in the ring for the next claim.
local SKIPPED_MAX = 1024
local taken, full, skipped = 0, false, 0
local function take(queue, count)
  local got = 0
  while got < count and not full and skipped < SKIPPED_MAX do
    local ids = call('LRANGE', queue.r, queue.consumed, queue.consumed + count - got - 1)
    if #ids == 0 then break end
    local bodies = call('HMGET', queue.b, unpack(ids))
    for i, id in ipairs(ids) do
      local body = bodies[i]
      if body then
        local request = request_of(queue, id, body)
        if taken > 0 and bytes + #body + #request > bytes_max then
          full = true
          break
        end
        add_job(queue, id, body, request)
        table.insert(queue.taken, now + tonumber(string.sub(body, 17, 19)) * 1000 + grace_ms)
        table.insert(queue.taken, id)
        got, taken = got + 1, taken + 1
      else
        queue.gone, skipped = queue.gone + 1, skipped + 1
      end
      queue.consumed = queue.consumed + 1
    end
  end
  queue.free = queue.free - got
end

local function open(queue)
  local live = call('HMGET', queue.q, 'a', 'm', 'n')
  queue.name = live[3]
  queue.consumed, queue.gone, queue.dealt, queue.taken = 0, 0, 0, {}
  queue.ready = live[1] == '1' and call('LLEN', queue.r) or 0
  queue.free = queue.ready
  if queue.ready > 0 and live[2] then
    queue.free = tonumber(live[2]) - call('ZCARD', queue.a)
    queue.limited = true
  end
  queue.opened = true
end

-- Deals `count` places to the queues in rounds of one quantum each, so that one hot queue still fills a batch. Queues
-- are looked at only until the batch is full. Answers whether any place was dealt.
local function deal(count)
  local dealt = 0
  local function offer(queue)
    if not queue.opened then open(queue) end
    local room = math.min(quantum, count - dealt, queue.free - queue.dealt, queue.ready - queue.consumed - queue.dealt)
    if room <= 0 then return false end
    queue.dealt, dealt = queue.dealt + room, dealt + room
    return true
  end
  local progress = true
  while progress and dealt < count do
    progress = false
    for _, queue in ipairs(queues) do
      if dealt >= count then break end
      if offer(queue) then progress = true end
    end
  end
  return dealt > 0
end

-- Ids of cancelled jobs leave places free: these are dealt again.
while taken < wanted and not full and skipped < SKIPPED_MAX and deal(wanted - taken) do
  for _, queue in ipairs(queues) do
    if queue.opened and queue.dealt > 0 then
      if not full then take(queue, queue.dealt) end
      queue.dealt = 0
    end
  end
end

-- Writes that cannot fail; the pop last.
local token = ''
if taken > 0 then
  token = string.format('%.0f', math.max(tonumber(call('GET', KEYS[5]) or '0'), known_token) + 1)
  call('SET', KEYS[5], token)
  local held, ids = {}, {}
  for _, queue in ipairs(queues) do
    if queue.opened then
      for i = 2, #queue.taken, 2 do
        table.insert(held, queue.taken[i])
        table.insert(held, queue.id .. '|' .. token)
        table.insert(ids, queue.taken[i])
      end
      if #queue.taken > 0 then
        call('ZADD', queue.a, unpack(queue.taken))
        Usage.note(Usage.team_of(queue.name), 0, 0, #queue.taken / 2)
      end
    end
  end
  Usage.write(KEYS[8])
  call('HSET', held_key, '#c', request_id .. ' ' .. token .. ' ' .. table.concat(ids, ' '), unpack(held))
end
for _, queue in ipairs(queues) do
  if queue.opened and queue.consumed > 0 then
    local has_more = queue.ready > queue.consumed
    if has_more and (not queue.limited or queue.free > 0) then
      call('ZINCRBY', ring, #queue.taken / 2, queue.id)
    else
      call('ZREM', ring, queue.id)
    end
    if queue.gone > 0 then call('HINCRBY', queue.q, 'g', -queue.gone) end
    call('LTRIM', queue.r, queue.consumed, -1)
  end
end
return answer(token)
