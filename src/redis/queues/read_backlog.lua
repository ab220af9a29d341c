#!lua flags=no-writes
-- read_backlog: says what executors have to do in a shard: of queues of the ring, team by team, and of what is due.
-- KEYS  1 ring  2 near  3 mins  4 crons  5 sus  then m:<minute> × minutes, in:<executor> × executors, (q r b a) × queues
-- ARGV  horizon_ms, minutes, minute…, executors, teams, (queues that are named, queues of the team in the ring)…
-- Answer {now, queues in the ring, suspects, due soon, next due or '', {held by each executor…},
--       {team or '', ready, may start, oldest due or ''} of each team…}
--       team: '' where its queues are of several. ready and may start: of a team's other queues as of those named; may
--       start leaves out what a queue's limit holds back.
--       Due soon: delayed jobs, retries and ticks of crons. A minute counts whole, and as due at its begin: its entries have no order.
local call = redis.call
--#include lib/record

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end
local key_at = 5
local function take_keys(count)
  local taken = {}
  for i = 1, count do taken[i] = KEYS[key_at + i] end
  key_at = key_at + count
  return taken
end

local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local horizon = now + number()

local due_soon = call('ZCOUNT', KEYS[2], '-inf', string.format('%.0f', horizon))
local head, first = call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES'), call('ZRANGE', KEYS[3], 0, 0)
local next_due, minute = tonumber(head[2] or ''), tonumber(first[1] or '')
if minute and (not next_due or minute * 60000 < next_due) then next_due = minute * 60000 end
local tick = tonumber(call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')[2] or '')
if tick and tick <= horizon then due_soon = due_soon + call('ZCOUNT', KEYS[4], '-inf', string.format('%.0f', horizon)) end
if tick and (not next_due or tick < next_due) then next_due = tick end
for _, bucket in ipairs(take_keys(number())) do
  if number() * 60000 <= horizon then due_soon = due_soon + call('LLEN', bucket) end
end

local held = {}
for _, key in ipairs(take_keys(number())) do
  table.insert(held, call('HLEN', key) - call('HEXISTS', key, '#c') - call('HEXISTS', key, '#f'))
end

local function look_at(sums, q, r, b, a, weight)
  local live = call('HMGET', q, 'a', 'm', 'g', 'n')
  local name = live[4] or ''
  local team = string.sub(name, 1, (string.find(name, '/', 1, true) or 1) - 1)
  sums.team = (not sums.team or sums.team == team) and team or ''
  local count = math.max(0, call('LLEN', r) - tonumber(live[3] or '0'))
  if live[1] == '1' and count > 0 then
    sums.ready = sums.ready + count * weight
    local max = live[2] and (tonumber(live[2]) or 1)
    sums.startable = sums.startable + (max and math.max(0, math.min(count, max - call('ZCARD', a))) or count) * weight
    -- The head is the oldest, or a rescued job. One that was cancelled says nothing.
    local body = call('HGET', b, call('LINDEX', r, 0))
    local due = body and tonumber(Record.due(body) or '')
    if due and (not sums.oldest or due < sums.oldest) then sums.oldest = due end
  end
end
local function text(ms) return ms and string.format('%.0f', ms) or '' end
local teams = {}
for _ = 1, number() do
  local named, all = number(), number()
  local sums = { ready = 0, startable = 0 }
  for _ = 1, named do
    local keys = take_keys(4)
    look_at(sums, keys[1], keys[2], keys[3], keys[4], math.max(1, all / named))
  end
  table.insert(teams, { sums.team or '', text(sums.ready), text(sums.startable), text(sums.oldest) })
end

-- Suspects keep executors there.
return { text(now), call('ZCARD', KEYS[1]), call('ZCARD', KEYS[5]), due_soon, text(next_due), held, teams }
