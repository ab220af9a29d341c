-- Shared by finish and reap: reads what both are told about queues and jobs, and ends jobs batch by batch.
-- Declares `arg`, `number`, `open_batch`, `read_job`, `end_job`, `close_batch`. Wants `Runs`, `Settle` and `Usage`.

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end

-- KEYS  1 clk  2 ex  3 in:<executor>  4 ring  5 near  6 mins  7 set  8 setn  9 gc  10 cq  11 use  12 tu
--       13 teams  14 tn  15 sus, then m:<minute> × minutes, (q r b a) × callback queues,
--       (q r b a p x xb h d c cf co) × queues; when runs of crons end: ks, then kr:<cron> × runs
-- ARGV  shards, finished_ms, failed_calls, ok_calls, calls_bytes, trim_hidden_above, minutes, minute…,
--       callback queues, (team, its number, local id)…, queues, (local id, callback queue or 0)…,
--       runs, (job id, cron id, record while it ran, tick)…
local function open_batch(now)
  local ctx = {
    now = now, shards = number(), near = KEYS[5], mins = KEYS[6], set = KEYS[7], setn = KEYS[8],
    gc = KEYS[9], cq = KEYS[10], use = KEYS[11], held = KEYS[3], sus = KEYS[15],
    limits = { finished_ms = number(), failed_calls = number(), ok_calls = number(), calls_bytes = number() },
    trim_hidden_above = number(),
    calls_bytes = tonumber(call('HGET', KEYS[11], 'calls') or '') or 0,
    minutes = {}, callback_queues = {}, queues = {}, released = {}, dropped = 0, woken = 0, freed = {},
  }
  ctx.calls_bytes_before = ctx.calls_bytes
  use_ring(KEYS[4], KEYS[13])
  local base = 15
  local minute_count = number()
  for i = 1, minute_count do ctx.minutes[number()] = KEYS[base + i] end
  base = base + minute_count
  for i = 1, number() do
    local k = base + (i - 1) * 4
    local queue = { q = KEYS[k + 1], r = KEYS[k + 2], b = KEYS[k + 3], a = KEYS[k + 4], team = arg(), u = arg(), id = arg() }
    -- A Redis that lost its last writes may have given the number to another team.
    if (call('HGET', KEYS[14], queue.team) or '0') ~= queue.u then ctx.is_moved = true end
    ctx.callback_queues[i] = queue
  end
  base = base + #ctx.callback_queues * 4
  for i = 1, number() do
    local k = base + (i - 1) * 12
    local keys = {
      q = KEYS[k + 1], r = KEYS[k + 2], b = KEYS[k + 3], a = KEYS[k + 4], p = KEYS[k + 5], x = KEYS[k + 6],
      xb = KEYS[k + 7], h = KEYS[k + 8], d = KEYS[k + 9], c = KEYS[k + 10], cf = KEYS[k + 11], co = KEYS[k + 12],
    }
    local queue = {
      id = arg(), callbacks = number(), keys = keys, freed = {}, dropped = {}, ended = {}, records = {}, large = {},
      bytes = 0, jobs = 0,
    }
    queue.live = call('HMGET', keys.q, 'a', 'm', 'o', 'n', 'u')
    queue.is_hidden = queue.live[3]
    queue.is_of_callbacks = not queue.live[3] and string.sub(queue.live[4] or '', -1) == '/'
    -- A deleted queue frees and creates nothing.
    queue.exists = queue.live[1]
    ctx.queues[i] = queue
  end
  base = base + #ctx.queues * 12
  local run_count = number()
  if run_count > 0 then
    ctx.states, ctx.runs, ctx.ended_runs = KEYS[base + 1], {}, {}
    for i = 1, run_count do
      local id = arg()
      ctx.runs[id] = { list = KEYS[base + 1 + i], cron = arg(), record = arg(), tick = arg() }
    end
  end
  return ctx
end

-- id, root, seq, queue index, token, kind, settings hash, large, bytes or '', delay ms, chain record, call record,
-- callback. bytes: of its record and what lies in p: of it; '' where only the record itself tells.
local args = ARGV
local function read_job()
  -- Not by `arg`: thirteen calls a job took longer than all that is made of it.
  local i = at
  at = i + 13
  return {
    id = args[i + 1], root = args[i + 2], seq = args[i + 3], queue = tonumber(args[i + 4]), token = args[i + 5],
    kind = args[i + 6], hash = args[i + 7], large = args[i + 8] == '1', bytes = tonumber(args[i + 9]),
    delay = tonumber(args[i + 10]), record = args[i + 11], call = args[i + 12], callback = args[i + 13],
  }
end

-- Answers whether it was set aside, its record being damaged.
local function end_job(ctx, job)
  local queue = ctx.queues[job.queue]
  -- By index: table.insert takes twice as long, and this is done for each job.
  ctx.freed[#ctx.freed + 1] = job.id
  if job.kind == 'n' then return end
  if not queue.exists then
    table.insert(queue.freed, job.id)
    return
  end
  if ctx.runs and ctx.runs[job.id] then Runs.note_end(ctx.ended_runs, ctx.runs[job.id], job) end
  Settle.settle(ctx, queue, job)
  -- A suspect keeps its slot.
  if job.is_suspect then return end
  queue.freed[#queue.freed + 1] = job.id
  if job.kind == 'g' then
    queue.given_back = true
  else
    queue.dropped[#queue.dropped + 1] = job.id
  end
  return job.is_set_aside
end

-- Frees slots, holders and records, wakes queues at once. Answers the queues whose finished chains want a trim.
local function close_batch(ctx, trim_above)
  local trim = {}
  for _, queue in ipairs(ctx.queues) do
    if #queue.freed > 0 then
      local length = #queue.ended > 0 and Settle.write_finished(ctx, queue) or 0
      call('ZREM', queue.keys.a, unpack(queue.freed))
      if #queue.dropped > 0 then call('HDEL', queue.keys.b, unpack(queue.dropped)) end
      -- Without a limit only a job given back can make the queue runnable.
      if queue.exists and (queue.live[2] or queue.given_back) then
        ctx.woken = ctx.woken + wake(queue.id, queue.live[5], queue.live, queue.keys.r, queue.keys.a)
      end
      local above = queue.is_hidden and math.min(ctx.trim_hidden_above, trim_above) or trim_above
      if length > above then table.insert(trim, queue.id) end
      if queue.exists then Usage.note(Usage.team_of(queue.live[4]), queue.bytes, queue.jobs, -#queue.freed) end
    end
  end
  for hash, count in pairs(ctx.released) do Settle.release_settings(ctx, hash, count) end
  if ctx.calls_bytes ~= ctx.calls_bytes_before then
    call('HSET', KEYS[11], 'calls', string.format('%.0f', ctx.calls_bytes))
  end
  Usage.write(KEYS[12])
  if ctx.runs then Runs.end_runs(ctx.states, ctx.ended_runs) end
  if #ctx.freed > 0 then call('HDEL', ctx.held, unpack(ctx.freed)) end
  return trim
end
