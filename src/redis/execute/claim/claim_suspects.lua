#!lua flags=allow-oom
-- claim_suspects: gives an executor suspects, in the order in which they wait; their slots are theirs already. Those that
-- it has at once are a company: jobs with one loss, of any team; or with two, few and of one team; or one with more. Who
-- leads decides which, unless the executor has some. One whose queue is paused, or has as many jobs running as its limit
-- says by now, goes to the end; what is no suspect any more is dropped. The same request id gives the same batch.
-- KEYS  1 clk  2 ex  3 in:<executor>  4 sus  5 tok  6 set, then (q b a p) × queues
-- ARGV  lease_ms, executor, request id, jobs at most, bytes max, grace_ms, known token, shards,
--       losses of those it has or '' (none), their team, jobs with two losses at most, queues, local id…,
--       suspects, (queue index, job id)…
-- Answer {'lost'} when the lease is gone, else
--       {'ok', now, token, '', suspects that still wait, {}, {id, queue index, record, request or ''…},
--        {queue index, team/name…}, {settings hash, json…}, {}, bytes of the one that did not fit or '', losses, team}
-- Transition: pending (suspect) → processing.
--#include lib/clock
--#include lib/usage
--#include lib/record
--#include lib/suspects

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end

local lease_ms, executor, request_id, most, bytes_max = number(), arg(), arg(), number(), number()
local grace_ms, known_token, shards = number(), number(), number()
local company, few = { losses = number(), team = arg() }, number()
local held_key, sus = KEYS[3], KEYS[4]

local now = shard_now(KEYS[1], KEYS[2], lease_ms)
local lease = call('ZSCORE', KEYS[2], executor)
if not lease or tonumber(lease) <= now then return { 'lost' } end

local queues, by_id = {}, {}
for i = 1, number() do
  local base = 6 + (i - 1) * 4
  local queue = { index = i, id = arg(), q = KEYS[base + 1], b = KEYS[base + 2], a = KEYS[base + 3], p = KEYS[base + 4], taken = {} }
  queue.live = call('HMGET', queue.q, 'a', 'm', 'n')
  queue.running = call('ZCOUNT', queue.a, '-inf', '(' .. SUSPECT_WAITS)
  queues[i], by_id[queue.id] = queue, queue
end

local jobs, names, settings, hashes, bytes, bytes_wanted = {}, {}, {}, {}, 0, ''

local function request_of(queue, id, body)
  if not Record.is_large(body) then return '' end
  return call('HGET', queue.p, string.format('%.0f', math.floor(tonumber(id) / (16 * shards)))) or ''
end

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
  if not queue.is_named then
    queue.is_named = true
    table.insert(names, queue.index)
    table.insert(names, queue.live[3] or '')
  end
end

local function answer(token)
  return {
    'ok', pad13(now), token, '', call('ZCARD', sus), {}, jobs, names, settings, {}, bytes_wanted,
    company.losses and string.format('%.0f', company.losses) or '', company.team,
  }
end

-- A lost answer: the same jobs again, as far as they are still held under that claim's token. Who holds a job is written
-- first, its slot and its place in sus follow.
local same, last_token, last_ids = string.match(call('HGET', held_key, '#c') or '', '^(%S+) (%d+) (.*)$')
if same == request_id then
  for id in string.gmatch(last_ids, '%d+') do
    local q, held_token = string.match(call('HGET', held_key, id) or '', '^(%d+)|(%d+)$')
    if held_token == last_token and by_id[q] then
      local body = call('HGET', by_id[q].b, id)
      if body then
        company = { losses = Record.losses(body), team = Usage.team_of(by_id[q].live[3]) or '' }
        add_job(by_id[q], id, body, request_of(by_id[q], id, body))
        call('ZADD', by_id[q].a, now + Record.timeout_ms(body) + grace_ms, id)
        call('ZREM', sus, q .. '|' .. id)
      end
    end
  end
  return answer(last_token)
end

local gone, last, taken = {}, {}, 0

-- Takes one suspect if it may run. Answers false when those behind it have to wait.
local function take(queue, id)
  local member = queue.id .. '|' .. id
  if not call('ZSCORE', sus, member) then return true end
  if not is_waiting(call('ZSCORE', queue.a, id)) then
    table.insert(gone, member)
    return true
  end
  -- One without a record is set aside like a damaged one.
  local body = call('HGET', queue.b, id) or ''
  local max = queue.live[2] and (tonumber(queue.live[2]) or 1)
  if queue.live[1] ~= '1' or (max and queue.running + #queue.taken / 2 >= max) then
    table.insert(last, member)
    return true
  end
  local losses, team = Record.losses(body), Usage.team_of(queue.live[3]) or ''
  if not company.losses then company = { losses = losses, team = team } end
  local is_like = math.min(losses, 3) == math.min(company.losses, 3) and (losses == 1 or team == company.team)
  local limit = losses == 1 and most or math.min(most, losses == 2 and few or 1)
  if not is_like or taken >= limit then return false end
  local request = request_of(queue, id, body)
  if bytes + #body + #request > bytes_max then
    bytes_wanted = string.format('%.0f', #body + #request)
    return false
  end
  add_job(queue, id, body, request)
  table.insert(queue.taken, now + Record.timeout_ms(body) + grace_ms)
  table.insert(queue.taken, id)
  table.insert(gone, member)
  taken = taken + 1
  return true
end
for _ = 1, number() do
  if not take(queues[number()], arg()) then break end
end

-- Writes that cannot fail; the places in sus go last.
local token = ''
if taken > 0 then
  token = string.format('%.0f', math.max(tonumber(call('GET', KEYS[5]) or '0'), known_token) + 1)
  call('SET', KEYS[5], token)
  local held, ids = {}, {}
  for _, queue in ipairs(queues) do
    for i = 2, #queue.taken, 2 do
      table.insert(held, queue.taken[i])
      table.insert(held, queue.id .. '|' .. token)
      table.insert(ids, queue.taken[i])
    end
  end
  call('HSET', held_key, '#c', request_id .. ' ' .. token .. ' ' .. table.concat(ids, ' '), unpack(held))
  for _, queue in ipairs(queues) do
    if #queue.taken > 0 then call('ZADD', queue.a, unpack(queue.taken)) end
  end
end
for _, member in ipairs(last) do call('ZADD', sus, now, member) end
for _, member in ipairs(gone) do call('ZREM', sus, member) end
return answer(token)
