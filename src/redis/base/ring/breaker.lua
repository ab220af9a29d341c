-- Shared by the steps that end jobs: what their ends say of the target. Adds to `Flow`.

-- A breaker stays open no longer than this.
local OPEN_MS_MAX = 900000
-- It has opened so often in a row that it stays open for the longest time, whatever it began with.
local OPENED_MAX = 20

-- Counts what ended in the half of the window that is under way, and forgets what is older than the half before.
local function count_ends(flow, now, ended, failed)
  local half = flow.breaker.half
  if now - flow.start >= 2 * half or now < flow.start then
    flow.start, flow.ended_before, flow.failed_before, flow.ended, flow.failed = now, 0, 0, 0, 0
  elseif now - flow.start >= half then
    flow.start, flow.ended_before, flow.failed_before = flow.start + half, flow.ended, flow.failed
    flow.ended, flow.failed = 0, 0
  end
  flow.ended, flow.failed = flow.ended + ended, flow.failed + failed
end

local function open_breaker(flow, now)
  local span = flow.breaker.open
  for _ = 1, flow.opened do span = math.min(span * 2, OPEN_MS_MAX) end
  flow.open = now + span
  flow.opened = math.min(flow.opened + 1, OPENED_MAX)
  Flow.count_anew(flow)
end

local function turn_breaker(flow, now, is_bad, is_probe)
  if not flow.breaker then return nil end
  if is_probe and flow.opened > 0 then
    if is_bad then
      open_breaker(flow, now)
      return nil
    end
    flow.opened, flow.open = 0, 0
    Flow.count_anew(flow)
    return 'closed'
  end
  -- What was in flight as the breaker opened says nothing new.
  if flow.opened > 0 then return nil end
  count_ends(flow, now, 1, is_bad and 1 or 0)
  local ended, failed = flow.ended + flow.ended_before, flow.failed + flow.failed_before
  if not is_bad or ended < flow.breaker.calls or failed * 100 < flow.breaker.percent * ended then return nil end
  open_breaker(flow, now)
  return 'opened'
end

-- The end of an attempt says how the target is: `is_bad` when it did not answer as one that works, and for how many ms it
-- asks to be left alone, or nil. Answers 'opened' or 'closed' when the breaker turns with it.
function Flow.note_end(flow, now, id, is_bad, asked)
  local is_probe = flow.probe == id
  if is_probe then flow.probe = '' end
  if asked and flow.respects then flow.asked = math.max(flow.asked, now + asked) end
  return turn_breaker(flow, now, is_bad, is_probe)
end

-- The same of jobs that succeeded, none of which is the probe.
function Flow.note_successes(flow, now, ended)
  if flow.breaker and flow.opened == 0 then count_ends(flow, now, ended, 0) end
end
