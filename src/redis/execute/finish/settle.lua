-- Shared by finish and reap: how a job in flight ends. Declares `Settle`.
--
-- A job record (value in b:) is text:
--   due(13) attempt(1, base 36) losses(1) flags(1) timeout(3) settings(11) lag '|' chain '\n' request
-- flags: bit 0 = the tail of the request part is in p:, bit 1 = was put into a minute bucket. lag = due − created, ms, '' = 0.
--
-- A dead letter (value in xb:) is the record of the last job, its chain with that job. One whose record is damaged is
--   '!' attempt(1, base 36) set aside(13) '\n' the record as it was found
--
-- kinds: s success · f failed_no_retries · r retry · d dead letter · g given back · c end of a callback
--        x set aside, its record being damaged · n nothing but to free what it holds

local Settle = {}

-- The request part of a record: all from the first line break on.
local function request_part(body)
  local start = string.find(body, '\n', 31, true)
  return string.sub(body, start)
end

-- Whether a job due then waits in its minute's bucket, not in near. `minutes` maps minute -> key of its bucket.
function Settle.is_for_bucket(now, due, minutes)
  return due - now > 60000 and minutes[math.floor(due / 60000)] ~= nil
end

-- Keeps a job that cannot run as a dead letter, as it is: it may be looked at, and deleted. Of a callback, which has no
-- history, nothing is kept. Each of these answers by how many bytes the queue's records grow once the job's own record
-- is gone.
function Settle.set_aside(ctx, queue, job, body)
  local keys = queue.keys
  job.is_set_aside = true
  if queue.is_of_callbacks then return -#body end
  release_settings(body, ctx)
  local attempt = math.floor(tonumber(job.id) / ctx.shards) % 16 + 1
  local digit = attempt < 10 and tostring(attempt) or string.char(87 + attempt)
  local purge = ctx.now + ctx.limits.finished_ms
  local letter = '!' .. digit .. pad13(ctx.now) .. '\n' .. body
  call('HSET', keys.xb, job.root, letter)
  call('ZADD', keys.x, purge, job.root)
  call('ZADD', ctx.gc, 'LT', purge, queue.id)
  return #letter - #body
end

-- ctx: now, shards, near, mins, minutes, gc, cq, use, setn, set, limits {...}
function Settle.retry(ctx, keys, q, job, body)
  local due = ctx.now + job.delay
  local bucket = Settle.is_for_bucket(ctx.now, due, ctx.minutes)
  local flags = tonumber(string.sub(body, 16, 16)) % 2 + (bucket and 2 or 0)
  local attempt = tonumber(string.sub(body, 14, 14), 36) + 1
  local request = request_part(body)
  local digit = attempt < 10 and tostring(attempt) or string.char(87 + attempt)
  local id = string.format('%.0f', tonumber(job.id) + ctx.shards)
  local record = pad13(due) .. digit .. '0' .. flags .. string.sub(body, 17, 30) .. string.format('%.0f', job.delay)
    .. '|' .. job.record .. request
  call('HSET', keys.b, id, record)
  if bucket then
    local minute = math.floor(due / 60000)
    call('ZADD', ctx.mins, minute, string.format('%.0f', minute))
    call('RPUSH', ctx.minutes[minute], q .. '|' .. id .. '|' .. string.format('%.0f', due - minute * 60000))
  else
    call('ZADD', ctx.near, due, q .. '|' .. id)
  end
  return #record - #body
end

function Settle.dead_letter(ctx, keys, q, job, body)
  local bar = string.find(body, '|', 31, true)
  local request = request_part(body)
  local purge = ctx.now + job.delay
  local letter = string.sub(body, 1, bar) .. job.record .. request
  call('HSET', keys.xb, job.root, letter)
  call('ZADD', keys.x, purge, job.root)
  call('ZADD', ctx.gc, 'LT', purge, q)
  return #letter - #body
end

-- Notes a chain that has ended; `write_finished` writes a queue's together.
function Settle.finished(queue, job)
  local ended, records = queue.ended, queue.records
  local n = #ended
  ended[n + 1], records[n * 2 + 1], records[n * 2 + 2] = job.root, job.root, job.record
  if job.large then table.insert(queue.large, job.seq) end
end

-- Answers the length of the queue's history.
function Settle.write_finished(ctx, queue)
  local keys = queue.keys
  call('HSET', keys.d, unpack(queue.records))
  local length = call('LPUSH', keys.h, unpack(queue.ended))
  if length == #queue.ended then call('ZADD', ctx.gc, 'LT', ctx.now + ctx.limits.finished_ms, queue.id) end
  if #queue.large > 0 then call('HDEL', keys.p, unpack(queue.large)) end
  return length
end

-- Keeps the record of one call, within the queue's count and the shard's bytes. Answers by how many bytes there are
-- more; nil when it is dropped.
function Settle.keep_call(ctx, keys, q, job)
  local size = #job.call
  if ctx.calls_bytes + size > ctx.limits.calls_bytes then return nil end
  local failed = job.kind ~= 's'
  local list = failed and keys.cf or keys.co
  local max = failed and ctx.limits.failed_calls or ctx.limits.ok_calls
  call('HSET', keys.c, job.id, job.call)
  local length = call('LPUSH', list, job.id)
  if length == 1 then call('ZADD', ctx.cq, 'LT', ctx.now, q) end
  if length > max then
    local oldest = call('RPOP', list)
    size = size - call('HSTRLEN', keys.c, oldest)
    call('HDEL', keys.c, oldest)
  end
  ctx.calls_bytes = ctx.calls_bytes + size
  return size
end

-- A callback is a job of its team's callback queue, under the id of the attempt it reports. The first one makes the
-- queue, which has no limit and no pause.
local CALLBACK_QUEUE_LIVE = { '1' }
function Settle.callback(ctx, queue, job)
  if not queue.name then
    local known = call('HGET', queue.q, 'n')
    queue.name = known or queue.team .. '/'
    if not known then call('HSET', queue.q, 'n', queue.name, 'a', '1', 'u', queue.u) end
  end
  local record = pad13(ctx.now) .. job.callback
  Usage.note(Usage.team_of(queue.name), #record, 1, 0)
  call('HSET', queue.b, job.id, record)
  if call('RPUSH', queue.r, job.id) == 1 then
    ctx.woken = ctx.woken + wake(queue.id, queue.u, CALLBACK_QUEUE_LIVE, queue.r, queue.a)
  end
end

-- Lowers the count of chains that use a settings version; at 0 both fields go.
function Settle.release_settings(ctx, hash, count)
  if call('HINCRBY', ctx.setn, hash, -count) <= 0 then
    call('HDEL', ctx.setn, hash)
    call('HDEL', ctx.set, hash)
  end
end

-- The bytes of a job that ends: of its record, and of what lies in p: of it.
local function bytes_of(keys, job)
  if job.bytes then return job.bytes end
  return call('HSTRLEN', keys.b, job.id) + (job.large and call('HSTRLEN', keys.p, job.seq) or 0)
end

-- Ends one job of a queue that exists. The slot (a:), the holder (in:), the record (b:) and what is noted on `queue`
-- are written by the caller, once per queue.
function Settle.settle(ctx, queue, job)
  local keys, q = queue.keys, queue.id
  if job.kind == 'g' then
    local body = job.body or call('HGET', keys.b, job.id)
    job.is_suspect = body and tonumber(string.match(string.sub(body, 15, 15), '^%d$') or '0') > 0
    if job.is_suspect then
      call('ZADD', keys.a, SUSPECT_WAITS, job.id)
      call('ZADD', ctx.sus, ctx.now, q .. '|' .. job.id)
    else
      call('LPUSH', keys.r, job.id)
    end
    return
  end
  local body = (job.kind == 'r' or job.kind == 'd' or job.kind == 'x') and (call('HGET', keys.b, job.id) or '')
  -- A record may also be damaged while its job is in flight: then no retry can be made of it.
  if body and (job.kind == 'x' or not Record.is_sound(body)) then
    queue.bytes = queue.bytes + Settle.set_aside(ctx, queue, job, body)
  elseif job.kind == 'r' then
    queue.bytes = queue.bytes + Settle.retry(ctx, keys, q, job, body)
  elseif job.kind == 'd' then
    queue.bytes = queue.bytes + Settle.dead_letter(ctx, keys, q, job, body)
  elseif job.kind == 's' or job.kind == 'f' then
    queue.bytes = queue.bytes + #job.record - bytes_of(keys, job)
    Settle.finished(queue, job)
  else
    queue.bytes = queue.bytes - bytes_of(keys, job)
  end
  if job.kind ~= 'r' or job.is_set_aside then queue.jobs = queue.jobs - 1 end
  if not job.is_set_aside and (job.kind == 's' or job.kind == 'f' or job.kind == 'd') then
    ctx.released[job.hash] = (ctx.released[job.hash] or 0) + 1
  end
  if job.call ~= '' then
    local kept = Settle.keep_call(ctx, keys, q, job)
    if kept then queue.bytes = queue.bytes + kept else ctx.dropped = ctx.dropped + 1 end
  end
  if job.callback ~= '' then Settle.callback(ctx, ctx.callback_queues[queue.callbacks], job) end
end
