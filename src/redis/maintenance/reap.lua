#!lua flags=allow-oom
-- reap: takes jobs from an executor that cannot end them. Attempt kept, they go back to the head of the ready list, or,
-- having now or before been lost with their executor, wait as suspects in sus, with the slots that they had; the lost
-- lease that is one too many fails the attempt as `executor_lost`, as the caller prepared it. A job whose record is
-- damaged is set aside.
-- KEYS  as in execute/finish/batch.lua
-- ARGV  lease_ms, executor, mode, margin_ms, lost_max, trim_above, then as in execute/finish/batch.lua (open_batch),
--       jobs, then read_job × jobs; kind 'g' = give back, 'x' = set aside, else the prepared failure of the last loss;
--       of a value of in: that is damaged, the value in place of the token
--       mode: 'lease' the executor's lease is past by margin_ms · 'deadline' each job's own hard deadline is past
--       (margin_ms: how long they rest after a jump of the clock) · 'unknown' the executor itself says that it does
--       not know these jobs · 'leave' it ends and gives all back (for both no loss is counted)
-- Answer {'live'} when the lease is not past or deadlines rest, {'moved'} when a team's callback queue is another by now,
--       else
--       {'ok', now, woken, codes, {queue that wants a trim…}}; codes: b given back · f failed · a set aside ·
--       n freed · p needs a prepared failure · s no longer so. An executor that holds nothing more after a 'lease' or
--       'leave' reap is removed.
-- Transitions: processing → pending (ready or suspect) | failed | set aside.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/usage
--#include lib/record
--#include retention/release_settings
--#include lib/suspects
--#include execute/finish/settle
--#include lib/cron
--#include execute/finish/runs
--#include execute/finish/batch

local lease_ms, executor, mode, margin_ms = number(), arg(), arg(), number()
local lost_max, trim_above = number(), number()
local now = shard_now(KEYS[1], KEYS[2], lease_ms)
if mode == 'lease' then
  local lease = call('ZSCORE', KEYS[2], executor)
  if lease and tonumber(lease) + margin_ms > now then return { 'live' } end
end

-- Deadlines set before a jump forward are past at once, though their calls still run: none is judged until the
-- longest of them, margin_ms, must be over.
if mode == 'deadline' then
  local jumped = tonumber(call('HGET', KEYS[1], 'j') or '')
  if jumped and now < jumped + margin_ms then return { 'live' } end
end

local ctx = open_batch(now)
if ctx.is_moved then return { 'moved' } end
local planned, codes, taken = {}, {}, {}

local function judge(job)
  local queue = ctx.queues[job.queue]
  local held = call('HGET', KEYS[3], job.id)
  local is_damaged = held == job.token
  if held ~= queue.id .. '|' .. job.token and not is_damaged then return 's' end
  if mode == 'deadline' then
    local deadline = call('ZSCORE', queue.keys.a, job.id)
    if deadline and tonumber(deadline) > now then return 's' end
  end
  if not call('ZSCORE', queue.keys.a, job.id) then
    job.kind = 'n'
    return 'n'
  end
  local body = call('HGET', queue.keys.b, job.id)
  if job.kind == 'x' or not body or not Record.is_sound(body) then
    job.kind = 'x'
    return 'a'
  end
  if mode == 'unknown' or mode == 'leave' then
    job.kind = 'g'
    return 'b'
  end
  local losses = tonumber(string.sub(body, 15, 15)) + 1
  if losses >= lost_max then return job.kind == 'g' and 'p' or 'f' end
  job.kind = 'g'
  job.body = string.sub(body, 1, 14) .. losses .. string.sub(body, 16)
  return 'b'
end

for i = 1, number() do
  local job = read_job()
  codes[i] = taken[job.id] and 's' or judge(job)
  if codes[i] ~= 's' and codes[i] ~= 'p' then
    taken[job.id] = true
    table.insert(planned, job)
  end
end

for _, job in ipairs(planned) do
  if job.body then call('HSET', ctx.queues[job.queue].keys.b, job.id, job.body) end
  end_job(ctx, job)
end
local trim = close_batch(ctx, trim_above)
if mode == 'lease' or mode == 'leave' then
  local left = call('HLEN', KEYS[3]) - call('HEXISTS', KEYS[3], '#c') - call('HEXISTS', KEYS[3], '#f')
  if left <= 0 then
    call('DEL', KEYS[3])
    call('ZREM', KEYS[2], executor)
  end
end
return { 'ok', pad13(now), ctx.woken, table.concat(codes), trim }
