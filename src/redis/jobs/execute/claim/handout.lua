-- Shared by claim and claim_suspects: the jobs that a claim hands out. Declares `jobs`, `payloads`, `names`, `settings` and
-- `bytes`, which are answered, `head_of`, `payload_field`, `payload_of`, `deadline_of`, `add_job`, `last_claim`,
-- `still_held`, `new_token` and `hold`. Wants `Record` and `Flow`, and `claim_at` told the time.
--
-- `jobs` holds stretches of one queue: index of the queue, count of jobs, {id, record} of each. `payloads` holds the tails
-- of requests, of the few jobs that have one: position of the job, payload.

local jobs, payloads, names, settings, bytes = {}, {}, {}, {}, 0
local numbers_a_seq = 16 * tonumber(ARGV.shards)
local job_count, jobs_end, stretch_queue, stretch_at = 0, 0, nil, 0
-- When the jobs of queues with a rate may begin, which the next claim of their queues goes by. A resend is answered the time
-- of the claim that it repeats.
local lead, begin_at = math.min(tonumber(ARGV.leadMs), LEAD_MS_MAX), nil
local sub = string.sub

-- What the head of a record says is worked out once for all records with the same head, as those of a queue mostly
-- have.
local heads = {}
local function head_of(body)
  local text = sub(body, 16, 30)
  local head = heads[text]
  if not head then
    head = { is_large = Record.is_large(body), timeout = Record.timeout_ms(body), hash = sub(body, 20, 30) }
    heads[text] = head
  end
  return head
end

-- Answers the field of `payloads` that has the tail of the job's request. May be asked only for a record whose head
-- says that there is one.
local function payload_field(id)
  return string.format('%.0f', math.floor(tonumber(id) / numbers_a_seq))
end

local function payload_of(queue, id, body)
  return head_of(body).is_large and call('HGET', queue.payloads, payload_field(id)) or ''
end

-- Answers the hard deadline of a job with this head that is claimed now. It is a text, as Redis takes long to write a
-- number of Lua.
local function deadline_of(head, now)
  head.deadline = head.deadline or string.format('%.0f', now + head.timeout + tonumber(ARGV.graceMs))
  return head.deadline
end

local known_settings, named = {}, {}
local function learn_settings(head)
  head.is_known = true
  if known_settings[head.hash] then return end
  known_settings[head.hash] = true
  table.insert(settings, head.hash)
  table.insert(settings, call('HGET', KEYS.settings, head.hash) or '')
end

-- A resend has not read the queue.
local function name_of(queue)
  if queue.name then return queue.name .. (queue.flow and Flow.mark(queue.flow, begin_at) or '') end
  local known = call('HMGET', queue.meta, QUEUE.name, QUEUE.flow)
  return (known[1] or '') .. (known[2] and Flow.mark(Flow.read(queue.meta, known[2], UNBOUNDED), begin_at) or '')
end

local function begin_stretch(queue)
  jobs[jobs_end + 1], jobs[jobs_end + 2] = queue.index, 0
  jobs_end = jobs_end + 2
  stretch_queue, stretch_at = queue, jobs_end
  if named[queue.index] then return end
  named[queue.index] = true
  table.insert(names, queue.index)
  table.insert(names, name_of(queue))
end

-- The lists are filled by index: table.insert takes twice as long, and this is done for each job.
local function add_job(queue, id, body, payload)
  if queue ~= stretch_queue then begin_stretch(queue) end
  jobs[jobs_end + 1], jobs[jobs_end + 2] = id, body
  jobs_end = jobs_end + 2
  jobs[stretch_at] = jobs[stretch_at] + 1
  job_count = job_count + 1
  bytes = bytes + #body + #payload
  if payload ~= '' then
    local at = #payloads
    payloads[at + 1], payloads[at + 2] = job_count, payload
  end
  local head = head_of(body)
  if not head.is_known then learn_settings(head) end
  return head
end

-- Serves a resend after a lost answer. Answers token and job ids of the claim with this request id; nil when the last
-- claim was another.
local function last_claim()
  local note = call('HGET', KEYS.heldJobs, HELD.lastClaim)
  local claim, token, ids = string.match(note or '', '^(%S+) (%d+) (.*)$')
  local request_id, begun_at = string.match(claim or '', '^(.+)@(%d+)$')
  if (request_id or claim) ~= ARGV.requestId then return nil end
  if begun_at then begin_at = tonumber(begun_at) end
  return token, ids
end

-- Answers which of these jobs are still held under the token.
local function still_held(by_id, token, ids)
  local found = {}
  for id in string.gmatch(ids, '%d+') do
    local local_id, held_token = string.match(call('HGET', KEYS.heldJobs, id) or '', '^(%d+)|(%d+)$')
    local queue = held_token == token and by_id[local_id]
    local body = queue and call('HGET', queue.records, id)
    if body then table.insert(found, { queue = queue, id = id, body = body }) end
  end
  return found
end

-- Fencing tokens rise even past one that the caller knows and a Redis with lost writes does not.
local function new_token()
  local last = tonumber(call('GET', KEYS.fencingToken) or '0')
  local token = string.format('%.0f', math.max(last, tonumber(ARGV.knownToken)) + 1)
  call('SET', KEYS.fencingToken, token)
  return token
end

-- Notes the executor as the holder of all claimed jobs. `claimed` of a queue holds deadline, id, deadline, id…
local function hold(queues, token)
  local held, ids, n, has_rate = {}, {}, 0, false
  for _, queue in ipairs(queues) do
    local claimed, holder = queue.claimed, queue.localId .. '|' .. token
    for i = 2, #claimed, 2 do
      local id = claimed[i]
      ids[n + 1], held[n * 2 + 1], held[n * 2 + 2] = id, id, holder
      n = n + 1
    end
    has_rate = has_rate or claimed[1] and queue.flow and queue.flow.rate
  end
  local begun_at = has_rate and string.format('@%.0f', begin_at) or ''
  local note = ARGV.requestId .. begun_at .. ' ' .. token .. ' ' .. table.concat(ids, ' ')
  call('HSET', KEYS.heldJobs, HELD.lastClaim, note, unpack(held))
end
