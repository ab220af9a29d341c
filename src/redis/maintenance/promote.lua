#!lua flags=allow-oom
-- promote: moves due members of near to their ready lists. Each is guarded by its own entry; one without a record of
-- the same due time is dropped, and so is one that cannot be read.
-- KEYS  1 clk  2 ex  3 near  4 ring  5 teams, then (q r b a) × queues
-- ARGV  lease_ms, queues, local id…, members, (queue index, job id)…, then members that cannot be read…
-- Answer {now, moved, woken, next due or ''}
-- Transition: pending (delayed) → pending (ready).
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/record

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end

local now = shard_now(KEYS[1], KEYS[2], number())
local near = KEYS[3]
use_ring(KEYS[4], KEYS[5])
local queues = {}
for i = 1, number() do
  local base = 5 + (i - 1) * 4
  queues[i] = { id = arg(), q = KEYS[base + 1], r = KEYS[base + 2], b = KEYS[base + 3], a = KEYS[base + 4], ready = {} }
end

local gone, moved, seen = {}, 0, {}
for _ = 1, number() do
  local queue, id = queues[number()], arg()
  local member = queue.id .. '|' .. id
  local due = tonumber(call('ZSCORE', near, member) or '')
  if due and due <= now and not seen[member] then
    seen[member] = true
    table.insert(gone, member)
    local body = call('HGET', queue.b, id)
    -- A damaged record goes on, to be claimed and set aside.
    if body and (tonumber(Record.due(body) or '') == due or not Record.is_sound(body)) then table.insert(queue.ready, id) end
  end
end

for i = at + 1, #ARGV do table.insert(gone, ARGV[i]) end

local woken = 0
for _, queue in ipairs(queues) do
  local count = #queue.ready
  if count > 0 then
    moved = moved + count
    if call('RPUSH', queue.r, unpack(queue.ready)) == count then
      local live = call('HMGET', queue.q, 'a', 'm', 'u')
      woken = woken + wake(queue.id, live[3], live, queue.r, queue.a)
    end
  end
end
if #gone > 0 then call('ZREM', near, unpack(gone)) end
local head = call('ZRANGE', near, 0, 0, 'WITHSCORES')
return { pad13(now), moved, woken, head[2] or '' }
