#!lua flags=allow-oom
-- finish: ends a batch of jobs in flight. Frees slots, wakes queues, writes summaries and call records, makes the
-- retry, the dead letter and the callback. A job whose token is not held is stale: nothing of it changes. One whose
-- record is damaged is set aside.
-- KEYS  as in execute/finish/batch.lua
-- ARGV  lease_ms, finish id, trim_above, then as in execute/finish/batch.lua (open_batch),
--       jobs, then read_job × jobs
-- Answer {now, woken, call records dropped, codes, {local id of a queue that wants a trim…}}; codes has one letter a
--       job: d done · s stale · a set aside; '' when a team's callback queue is another by now and nothing was done.
--       The same finish id gives the same codes again.
-- Transitions: processing → completed | failed (with retry, dead letter, callback) | set aside | pending (given back; a suspect waits among
--       suspects again).
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

local lease_ms, finish_id, trim_above = number(), arg(), number()
local now = shard_now(KEYS[1], KEYS[2], lease_ms)

local last_id, last_codes = string.match(call('HGET', KEYS[3], '#f') or '', '^(%S+) (%a+)$')
if last_id == finish_id then return { pad13(now), 0, 0, last_codes, {} } end

local ctx = open_batch(now)
if ctx.is_moved then return { pad13(now), 0, 0, '', {} } end
local asked, ids = {}, {}
for i = 1, number() do
  asked[i] = read_job()
  ids[i] = asked[i].id
end
local holders = call('HMGET', KEYS[3], unpack(ids))
local jobs, codes, seen, any = {}, {}, {}, false
for i, job in ipairs(asked) do
  local queue = ctx.queues[job.queue]
  -- The jobs of a batch were most often claimed together.
  if queue.token ~= job.token then queue.token, queue.holder = job.token, queue.id .. '|' .. job.token end
  local held = holders[i] == queue.holder and not seen[job.id]
  codes[i] = held and 'd' or 's'
  if held then
    any, seen[job.id], job.place = true, true, i
    jobs[#jobs + 1] = job
  end
end
if not any then return { pad13(now), 0, 0, table.concat(codes), {} } end

for _, job in ipairs(jobs) do
  if end_job(ctx, job) then codes[job.place] = 'a' end
end
call('HSET', KEYS[3], '#f', finish_id .. ' ' .. table.concat(codes))
local trim = close_batch(ctx, trim_above)
return { pad13(now), ctx.woken, ctx.dropped, table.concat(codes), trim }
