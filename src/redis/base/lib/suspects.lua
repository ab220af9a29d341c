-- Shared by the steps that know suspects. Declares `SUSPECT_WAITS`, `is_waiting` and `waiting_score`.
--
-- A suspect is a job whose executor was lost: it may be the cause. It waits in `suspects` in the order of arrival, where
-- ordinary claims do not see it. It keeps its slot, with a hard deadline that never comes, so that its queue's other jobs
-- cannot take the slot again and again.

local SUSPECT_WAITS = '9000000000000000'

-- Whether a job with this score in `inFlight` is a waiting suspect.
local function is_waiting(score)
  return score and tonumber(score) >= tonumber(SUSPECT_WAITS)
end

-- The score of a waiting suspect with this due time, which stands in its last digits: so the slots of a queue say which of
-- its suspects has been due longest. A record that is damaged has none.
local function waiting_score(due)
  return string.format('%.0f', tonumber(SUSPECT_WAITS) + (tonumber(due or '') or 0))
end
