#!lua
-- tick: applies decisions about due ticks, cron by cron: makes the runs, records ticks that did not run, sets the next tick.
-- A cron whose version or expected tick has changed is left alone, so that each tick is decided once however many
-- executors try. Sent twice, done once. A run by hand has no expected tick and changes none.
-- Most ticks are plain: the one due run of a cron without a queue of its own, and nothing else. Plain ticks alike share a
-- stretch. None has a table, unless its cron turns out to be different.
-- ARGV.stretches: for plain ticks that follow each other 'count expected next timeout team block forbids;' timeout: three
--       digits · next: tick or '-' · team, block: index in the rows · forbids: 1 or 0
-- ARGV.plain: for each plain tick 'cron version queue job field ' · queue: local id of the hidden one · field: of the job
--       in its block
-- ARGV.crons: for each other cron 'id version expected next deferred forbids ended team queue missed;' with blanks between.
--       expected, next: tick or '-' · deferred: when it is looked at again instead of at its next tick, or '-' · ended: root
--       id of a run known to have ended, or '-' · team, queue: index in the rows, queue 0 = the hidden one · missed: its
--       record, or '-'
-- ARGV.runs: for each run of these, in the order of their crons, 'cron block field job tick timeout large;' cron, block:
--       index in the rows · large: l when the payload follows, else '-'
-- Requests: for each plain tick, then for each run, the request part of its record, then the payload if it is large.
-- Answer 'now woken count code value …' with count, code and value for as many ticks in a row, plain ones first: done (due
--       time of the last run, or '-') · outdated (another version or tick) · early · stale_queue (its name has another id)
--       · foreign_block (the id block belongs to another process) · running (a run by hand is forbidden beside this root
--       id) · missing (or the state is damaged) · draining (a run by hand through a queue that drains) · over_share (a run
--       by hand exceeds the team's share of free memory). 'full' instead when Redis is nearly full.
-- Records of a cron are kind|tick|root id: r running, s succeeded, f failed, with |reason behind it
--       (upper case for runs by hand), k skipped, with d for its root id because the queue drains; m|last tick|count for missed ticks and for a tick whose run would exceed the team's share of free memory.
-- What throws while runs are written ends the step with an error, and all that it has written is taken back: each cron may
--       then be ticked without the others.
-- Transition: (none) → pending.
--#include base/lib/clock
--#include base/ring/bands
--#include base/ring/ring
--#include base/lib/pushed
--#include base/lib/team
--#include base/lib/cron
--#include base/lib/job_index
--#include base/lib/usage
--#include base/lib/quota
--#include base/lib/memory
--#include jobs/execute/finish/guarded

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local now_text = pad13(now)
local shards, nonce = tonumber(ARGV.shards), ARGV.nonce
local new_hidden = { hash = ARGV.hiddenHash, timeout = ARGV.hiddenTimeout, json = ARGV.hiddenJson }
local new_named = { hash = ARGV.namedHash, timeout = ARGV.namedTimeout, json = ARGV.namedJson }
Quota.bound(now, ARGV.month, ARGV.monthEndsMs, '')

-- Read and check everything.
local lists = ROWS.lists
local blocks = ROWS.blocks
local named = ROWS.queues
local hidden = ROWS.hiddenQueues
local team_rows = ROWS.teams
local plain_count = ROWS.plainTicks.count
local teams = {}
for i, row in ipairs(team_rows) do teams[i] = Quota.add_team(row) end

-- Plain ticks have five words each, other crons a table.
local plain, ids, words = {}, {}, 0
for cron, version, queue, job, field in string.gmatch(ARGV.plain, '(%d+) (%d+) (%d+) (%d+) (%d+) ') do
  plain[words + 1], plain[words + 2], plain[words + 3], plain[words + 4], plain[words + 5] = cron, version, queue, job, field
  words = words + 5
  ids[#ids + 1] = cron
end
local requests_at = arg_at
arg_at = arg_at + plain_count

local crons = {}
for id, version, expected, next_tick, deferred, forbids, ended, team, queue, missed in
  string.gmatch(ARGV.crons, '(%d+) (%d+) (%S+) (%S+) (%S+) (%d) (%S+) (%d+) (%d+) (%S+);')
do
  local index = #crons + 1
  crons[index] = {
    id = id, version = version, expected = expected, next = next_tick, deferred = tonumber(deferred), forbids = forbids == '1', ended = ended,
    team = teams[tonumber(team)], queue = named[tonumber(queue)], missed = missed, cronRecords = lists[index].cronRecords,
  }
  ids[#ids + 1] = id
end
local block_fields, runs_asked = {}, plain_count
for i = 1, #blocks do block_fields[i] = { INDEX.owner } end
for index, block, field, id, tick, timeout, mark in
  string.gmatch(ARGV.runs, '(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S);')
do
  block = tonumber(block)
  local fields = block_fields[block]
  fields[#fields + 1] = field
  local run = {
    block = block, field = field, position = #fields, id = id, tick = tick, timeout = timeout, request = next_arg(),
    large = mark == 'l' and next_arg(),
  }
  run.bytes = #run.request + (run.large and #run.large or 0)
  runs_asked = runs_asked + 1
  local cron = crons[tonumber(index)]
  if cron.runs then cron.runs[#cron.runs + 1] = run else cron.runs = { run } end
end
local is_foreign, found_fields = {}, {}
for block, fields in ipairs(block_fields) do
  local found = call('HMGET', blocks[block].jobIndex, unpack(fields))
  is_foreign[block] = (found[1] or nonce) ~= nonce
  found_fields[block] = found
end

local queues = {}
for i, queue in ipairs(named) do
  queue.is_stale = call('HGET', KEYS.queueIds, queue.field) ~= queue.localId
  local live = call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.settingsHash, QUEUE.teamNumber,
    QUEUE.draining)
  queue.is_draining = live[5] == '1'
  queue.initial, queue.is_new = new_named, not live[3]
  queue.live = queue.is_new and { '1' } or live
  queue.hash, queue.team_number = live[3] or new_named.hash, live[4]
  queues[i] = queue
end
-- A hidden queue has no limit and no pause. Its local id comes from its cron's id.
local function open_hidden(cron, queue, local_id, live)
  queue.localId, queue.cron, queue.initial, queue.is_new = local_id, cron, new_hidden, not live[1]
  queue.hash, queue.team_number = live[1] or new_hidden.hash, live[2]
  cron.queue = queue
  queues[#queues + 1] = queue
end
local hidden_count = 0
for _, cron in ipairs(crons) do
  if not cron.queue and cron.runs then
    hidden_count = hidden_count + 1
    local queue = hidden[hidden_count]
    local live = call('HMGET', queue.meta, QUEUE.settingsHash, QUEUE.teamNumber)
    open_hidden(cron, queue, string.format('%.0f', math.floor(tonumber(cron.id) / shards)), live)
  end
end
local states = call('HMGET', KEYS.cronStates, unpack(ids))

-- Above this percentage of the memory only retries and ends are written. Below it, free memory belongs to no team: a team
-- whose runs pile up may hold at most this multiple of what is free.
local TICKS_STOP_AT, SHARE_OF_FREE = 97, 4
local share
if runs_asked > 0 then
  local used, max = Memory.used()
  if max > 0 and used >= max * TICKS_STOP_AT / 100 then return 'full' end
  share = max > 0 and SHARE_OF_FREE * (max * TICKS_STOP_AT / 100 - used) or nil
end

local index_fields, changed, due_next, finished, uses = {}, {}, {}, {}, {}

local function push(list, a, b)
  local n = #list
  list[n + 1], list[n + 2] = a, b
end

local function fields_of(block)
  local fields = index_fields[block]
  if not fields then
    fields = {}
    index_fields[block] = fields
  end
  return fields
end

-- Plans a job of the queue.
local function start(queue, run, due, due_text)
  local lag = due ~= now and string.format('%.0f', due - now) or ''
  local body = due_text .. (run.large and '101' or '100') .. run.timeout .. queue.hash .. lag .. '|' .. run.request
  queue.bytes = (queue.bytes or 0) + #body + (run.large and #run.large or 0)
  if queue.new_ids then
    queue.new_ids[#queue.new_ids + 1] = run.id
    push(queue.new_records, run.id, body)
  else
    queue.new_ids, queue.new_records = { run.id }, { run.id, body }
  end
  if run.large then
    queue.new_payloads = queue.new_payloads or {}
    push(queue.new_payloads, string.format('%.0f', math.floor(tonumber(run.id) / (16 * shards))), run.large)
  end
  push(fields_of(run.block), run.field, queue.localId)
end

local function plan(cron, text)
  if not text then return 'missing', '-' end
  local head, version, active, spread, tick, running, tail = Cron.parse_tick(text)
  if not head then return 'missing', '-' end
  local by_hand = cron.expected == '-'
  local runs = cron.runs or {}
  local first = runs[1]
  if by_hand and found_fields[first.block][first.position] and not is_foreign[first.block] then return 'done', now_text end
  -- A cron that moves to another shard changes no more here: the new shard may have read its state already.
  local is_retired = active == 'r' or active == 'p'
  if version ~= cron.version or is_retired or (not by_hand and (tick ~= cron.expected or active ~= '1')) then
    return 'outdated', '-'
  end
  for _, run in ipairs(runs) do
    if tonumber(run.tick) + spread > now and not by_hand then return 'early', '-' end
    if is_foreign[run.block] then return 'foreign_block', '-' end
  end
  -- The caller's clock may be ahead: a tick that is still to come must not count as missed.
  local missed_last = cron.missed ~= '-' and tonumber(string.match(cron.missed, '^m|(%d+)'))
  if missed_last and missed_last + spread > now then return 'early', '-' end
  if first and cron.queue.is_stale then return 'stale_queue', '-' end
  if running == cron.ended then running = '' end
  local is_draining = first and cron.queue.is_draining
  if by_hand and is_draining then return 'draining', '-' end
  if by_hand and cron.forbids and running ~= '' then return 'running', running end

  local records, last = { cron.missed ~= '-' and cron.missed or nil }, '-'
  for _, run in ipairs(runs) do
    if is_draining then
      records[#records + 1] = 'k|' .. run.tick .. '|d'
    elseif cron.forbids and running ~= '' then
      records[#records + 1] = 'k|' .. run.tick .. '|'
    elseif not Quota.admit_run(KEYS.teamUsage, cron.team, run.bytes, share) then
      if by_hand then return 'over_share', '-' end
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
  cron.tick_records = records
  if not by_hand then
    tick = cron.next == '-' and '' or cron.next
    if tick == '' then table.insert(finished, cron.id) else push(due_next, cron.deferred or tonumber(tick) + spread, cron.id) end
  end
  push(changed, cron.id, head .. tick .. '|' .. running .. tail)
  return 'done', last
end

local answer = { now_text, 0 }
local function say(code, value)
  local n = #answer
  if n > 2 and answer[n] == value and answer[n - 1] == code then
    answer[n - 2] = answer[n - 2] + 1
  else
    answer[n + 1], answer[n + 2], answer[n + 3] = 1, code, value
  end
end

-- Plans a plain tick in the general way, as something sets its cron apart: its queue is new, it is paused or was edited,
-- its tick is still to come …
local function plan_unlike(like, i, text, live)
  local at = (i - 1) * 5
  local request = ARGV[requests_at + i]
  local cron = {
    id = plain[at + 1], version = plain[at + 2], expected = like.expected, next = like.next, forbids = like.forbids,
    ended = '-', team = like.team, missed = '-', cronRecords = ROWS.plainTicks[i].cronRecords, runs = { {
      block = like.block, field = plain[at + 5], id = plain[at + 4], tick = like.expected, timeout = like.timeout,
      request = request, bytes = #request,
    } },
  }
  local queue = {
    meta = ROWS.plainTicks[i].meta, ready = ROWS.plainTicks[i].ready, records = ROWS.plainTicks[i].records,
  }
  open_hidden(cron, queue, plain[at + 3], live)
  crons[#crons + 1] = cron
  return plan(cron, text)
end

-- What the plain ticks of a stretch with this spread have in common; nil when they are still to come.
local function spread_of(like, spread)
  local known = like.by_spread[spread]
  if known then return known end
  local due = tonumber(like.expected) + spread
  if due > now then return nil end
  local next_tick = tonumber(like.next)
  known = {
    due = spread == 0 and like.expected or pad13(due), heads = {},
    next_due = next_tick and (spread == 0 and like.next or string.format('%.0f', next_tick + spread)),
    lag = (due ~= now and string.format('%.0f', due - now) or '') .. '|',
  }
  like.by_spread[spread] = known
  return known
end

-- The plain ticks that run: their positions, and of each its record, its cron's record and the number of its team. The job
-- of tick `i` is `plain[i * 5 - 1]`, its hidden queue `plain[i * 5 - 2]`.
local ticking, bodies, ticks, team_numbers = {}, {}, {}, {}

-- Plans the plain tick at position `i`. The score of its next tick is made as text, because Redis is slow to turn a number
-- of Lua into text.
local function plan_plain(like, i)
  local text, at = states[i], (i - 1) * 5
  local live = call('HMGET', ROWS.plainTicks[i].meta, QUEUE.settingsHash, QUEUE.teamNumber)
  local hash, request = live[1], ARGV[requests_at + i]
  local head, version, active, spread, tick, running, tail
  if text then head, version, active, spread, tick, running, tail = Cron.parse_tick(text) end
  local common = head and hash and spread_of(like, spread)
  local is_plain = common and version == plain[at + 2] and active == '1' and tick == like.expected
    and not (like.forbids and running ~= '') and not is_foreign[like.block]
  if not is_plain or not Quota.admit_run(KEYS.teamUsage, like.team, #request, share) then
    return plan_unlike(like, i, text, live)
  end
  local id, job, n = plain[at + 1], plain[at + 4], #ticking + 1
  local record_head = common.heads[hash]
  if not record_head then
    record_head = common.due .. '100' .. like.timeout .. hash .. common.lag
    common.heads[hash] = record_head
  end
  local body = record_head .. request
  ticking[n], bodies[n], ticks[n] = i, body, 'r|' .. tick .. '|' .. job
  team_numbers[n] = tonumber(live[2] or '') and live[2] or '0'
  like.bytes, uses[hash] = like.bytes + #body, (uses[hash] or 0) + 1
  local indexed = like.indexed
  local m = #indexed
  indexed[m + 1], indexed[m + 2] = plain[at + 5], plain[at + 3]
  if common.next_due then push(due_next, common.next_due, id) else finished[#finished + 1] = id end
  push(changed, id, head .. (common.next_due and like.next or '') .. '|' .. job .. tail)
  return 'done', common.due
end

local other_crons = #crons
local position = 0
for count, expected, next_tick, timeout, team, block, forbids in
  string.gmatch(ARGV.stretches, '(%d+) (%d+) (%S+) (%d+) (%d+) (%d+) (%d);')
do
  local like = {
    expected = expected, next = next_tick, timeout = timeout, team = teams[tonumber(team)], block = tonumber(block),
    forbids = forbids == '1', by_spread = {}, bytes = 0, indexed = fields_of(tonumber(block)),
  }
  local before = #ticking
  for i = position + 1, position + tonumber(count) do say(plan_plain(like, i)) end
  position = position + tonumber(count)
  Usage.note(like.team.name, like.bytes, #ticking - before, 0)
end
for i = 1, other_crons do say(plan(crons[i], states[plain_count + i])) end

--#include crons/tick/write_runs
if not guarded('runs', write_runs) then
  take_back()
  return { err = faults[1] }
end
guarded('usage', Usage.write, KEYS.teamUsage)
guarded('quota', Quota.write, KEYS.teamUsage)
guarded('settings', count_uses)
-- From here on a resend finds the ticks decided.
if #changed > 0 then call('HSET', KEYS.cronStates, unpack(changed)) end
if #due_next > 0 then call('ZADD', KEYS.cronsDue, unpack(due_next)) end
if #finished > 0 then call('ZREM', KEYS.cronsDue, unpack(finished)) end
return table.concat(answer, ' ')
