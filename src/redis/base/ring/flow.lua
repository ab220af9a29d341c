-- Shared by the steps that know how fast the target of a queue may be called. Declares `Flow`. Wants `call` and the words of `mark`.
--
-- A queue without flow settings has neither of these fields:
--
--   flow (settings)   'limit|period|respects|percent|calls|window|open'
--     limit, period: calls begin in so many ms · respects: 1 = `Retry-After` counts · percent, calls, window, open: of the
--     breaker; times in ms. What is not set is ''.
--   flowState         'next begin|asked|open|opened|probe|start|ended|failed|ended before|failed before'
--     next begin: when the rate lets the next job begin, in µs · asked: until when the target wants to be left alone ·
--     open: until when the breaker is open · opened: how often it has opened in a row · probe: 'w' = one job may try the
--     target, an id = it is under way, '' = none is needed · start: of the half of the window that is being counted, and what
--     ended and failed in it and in the half before.

local Flow = {}

-- A rate hands out as much at once as begins in this time, at least one job: so what many queues want of a claim is bounded.
local QUANTUM_MS = 5
-- What a claim that comes late may make up for: this part of the period, and no more than so many ms.
local SLACK_PART, SLACK_MS_MAX = 0.015, 1000
-- How much later than its claim says a job may begin, as the claim's answer has to reach its executor: likewise.
local LATE_PART, LATE_MS_MAX = 0.01, 500
-- The lateness that no executor can see: the way of its quickest answer, and what a time that is cut to the ms leaves out.
local UNSEEN_MS = 2
-- The most by which a claim lets jobs begin ahead of it, because its answer is expected to come late.
local LEAD_MS_MAX = 1000
-- Queues with a rate are looked at at the same times, so that many are put back by one promotion.
local MARK_GRID_MS = 10
-- How often a probe under way is looked after: it may have been lost with its executor.
local PROBE_LOOK_MS = 60000

-- More than any count or time.
local UNBOUNDED = 9007199254740992

local PROBE_WANTED = 'w'

-- `begin` of a rate moves the next begin on by `interval` for each job, and jobs may begin while it is at most `quantum - 1`
-- of them ahead. So between two jobs of a queue with `limit` others from the first to before the second lie at least
-- (limit + 1 - quantum) * interval - slack ms by their claims, and less by `late` where the first of them was called, which
-- is the period.
local function rate_of(limit, period)
  local quantum = math.max(1, math.floor(limit * QUANTUM_MS / period))
  local slack = math.min(period * SLACK_PART, SLACK_MS_MAX)
  local late = math.min(period * LATE_PART, LATE_MS_MAX)
  return { quantum = quantum, slack = slack, late = late, interval = (period + slack + late) / (limit + 1 - quantum) }
end

local function count_in(digits) return tonumber(digits or '') end
local function whole_text(value) return string.format('%.0f', value) end

-- Reads the flow of a queue from its settings, which are not nil. What is damaged counts as not set.
function Flow.read(meta, settings, now)
  local limit, period, respects, percent, calls, window, open_ms =
    string.match(settings, '^(%d*)|(%d*)|(%d*)|(%d*)|(%d*)|(%d*)|(%d*)$')
  local next_begin, asked, open_until, opened, probe, start, ended, failed, ended_before, failed_before = string.match(
    call('HGET', meta, QUEUE.flowState) or '', '^(%d*)|(%d*)|(%d*)|(%d*)|(%w*)|(%d*)|(%d*)|(%d*)|(%d*)|(%d*)$')
  local flow = {
    meta = meta, respects = respects == '1', next_begin = (count_in(next_begin) or 0) / 1000, asked = count_in(asked) or 0,
    open = count_in(open_until) or 0, opened = count_in(opened) or 0, probe = probe or '', start = count_in(start) or 0,
    ended = count_in(ended) or 0, failed = count_in(failed) or 0, ended_before = count_in(ended_before) or 0,
    failed_before = count_in(failed_before) or 0,
  }
  if (count_in(limit) or 0) > 0 and (count_in(period) or 0) > 0 then
    flow.rate = rate_of(tonumber(limit), tonumber(period))
    -- One that is further ahead than a lead explains is of a slower rate, or of a clock that was set back since.
    local ahead_max = flow.rate.quantum * flow.rate.interval
    if flow.next_begin > now + LEAD_MS_MAX + ahead_max then flow.next_begin = now + ahead_max end
  end
  if count_in(percent) then
    flow.breaker = {
      percent = tonumber(percent), calls = count_in(calls) or 1, half = (count_in(window) or 0) / 2, open = count_in(open_ms) or 0,
    }
  end
  return flow
end

function Flow.save(flow, active)
  local parts = {
    whole_text(flow.next_begin * 1000), whole_text(flow.asked), whole_text(flow.open), whole_text(flow.opened),
    flow.probe, whole_text(flow.start), whole_text(flow.ended), whole_text(flow.failed), whole_text(flow.ended_before),
    whole_text(flow.failed_before),
  }
  local state = table.concat(parts, '|')
  if active then
    call('HSET', flow.meta, QUEUE.flowState, state, QUEUE.active, active)
  else
    call('HSET', flow.meta, QUEUE.flowState, state)
  end
end

-- Whether the ends of jobs are counted: a rate alone wants none of them.
function Flow.counts_ends(settings)
  return settings and string.sub(settings, -5) ~= '|||||'
end

-- Whether the target is to be left alone, whatever the rate allows.
function Flow.is_stopped(flow, now)
  return flow.asked > now or flow.open > now or flow.probe ~= '' and flow.probe ~= PROBE_WANTED
end

function Flow.count_anew(flow)
  flow.start, flow.ended, flow.failed, flow.ended_before, flow.failed_before = 0, 0, 0, 0, 0
end

-- What is left of a flow when its settings have changed: how far its rate is, and what its target has asked for if that
-- still counts. A breaker that was changed begins anew.
function Flow.kept(flow, has_same_breaker)
  if not flow.respects then flow.asked = 0 end
  if has_same_breaker then
    -- Nobody would hear of its end.
    if not flow.respects and not flow.breaker then flow.probe = '' end
    return flow
  end
  flow.open, flow.opened, flow.probe = 0, 0, ''
  Flow.count_anew(flow)
  return flow
end

-- Answers how many jobs may be claimed now. Those of a queue with a rate begin `lead` ms later, absent = at once.
function Flow.allowed(flow, now, lead)
  if Flow.is_stopped(flow, now) then return 0 end
  local most = flow.probe == PROBE_WANTED and 1 or UNBOUNDED
  local rate = flow.rate
  if not rate then return most end
  local at = now + (lead or 0)
  local from = math.max(flow.next_begin, at - rate.slack)
  return math.max(0, math.min(most, math.floor((at - from) / rate.interval) + rate.quantum))
end

-- Notes that so many jobs begin at this time, the first of them with this id.
function Flow.begin(flow, at, jobs_begun, id)
  if flow.rate then flow.next_begin = math.max(flow.next_begin, at - flow.rate.slack) + jobs_begun * flow.rate.interval end
  if flow.probe == PROBE_WANTED then flow.probe = id end
end

-- Answers when to look again at a queue of which no job may begin now.
function Flow.look_at(flow, now)
  local at = math.max(flow.asked, flow.open)
  if at > now then return at end
  if flow.probe ~= '' and flow.probe ~= PROBE_WANTED then return now + PROBE_LOOK_MS end
  return math.max(now, math.ceil(flow.next_begin / MARK_GRID_MS) * MARK_GRID_MS)
end

-- The probe has ended without a word of the target: another one is needed.
function Flow.lose_probe(flow, id)
  if flow.probe == id then flow.probe = PROBE_WANTED end
end

-- Reads the flow of a queue as it is now: of a wait that is over, one job tries the target first.
function Flow.at(meta, settings, now)
  local flow = Flow.read(meta, settings, now)
  if flow.asked == 0 and flow.open == 0 or flow.asked > now or flow.open > now then return flow end
  flow.asked, flow.open = 0, 0
  if flow.probe == '' then flow.probe = PROBE_WANTED end
  return flow
end

-- For `names` of a claim: '\nb' where the executor has to tell of a breaker that turns, '\np' of a probe; of a queue with a
-- rate behind that, '\n' and when its jobs may begin, and '\n' and how many ms later at most.
function Flow.mark(flow, begin_at)
  local of_breaker = ''
  if flow.breaker then of_breaker = flow.opened > 0 and flow.probe ~= '' and 'p' or 'b' end
  if flow.rate then
    return string.format('\n%s\n%.0f\n%.0f', of_breaker, begin_at, math.floor(flow.rate.late - UNSEEN_MS))
  end
  return of_breaker ~= '' and '\n' .. of_breaker or ''
end
