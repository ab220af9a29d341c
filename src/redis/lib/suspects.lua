-- Shared by the steps that know suspects. Declares `SUSPECT_WAITS` and `is_waiting`.
--
-- A suspect is a job under which an executor was lost: it may be what the executor died of. It waits in sus:, in the
-- order of coming there, and ordinary claims do not see it. It keeps its slot meanwhile, its entry in a: being at a time
-- that never comes: so its queue's other jobs cannot take the slot again and again.

local SUSPECT_WAITS = '9000000000000000'

-- Whether a job with this score in a: is a suspect that waits.
local function is_waiting(score)
  return score and tonumber(score) >= tonumber(SUSPECT_WAITS)
end
