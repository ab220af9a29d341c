-- Shared by the steps that end jobs. Declares `guarded` and `faults`.
--
-- What belongs to one queue, cron or team may be damaged: a key of another type, a counter that is no number. It must not
-- stop what belongs to others, and Redis takes back nothing that a step has written before it throws.

local FAULTS_MAX = 8

-- What was thrown, in words; bounded, because one damaged key may throw for each job. nil = nothing, which an answer then
-- spends no bytes on.
local faults

-- Calls a function with up to three arguments. Answers true and its answer, or false and notes what it threw.
local function guarded(what, f, a, b, c)
  local ok, answer = pcall(f, a, b, c)
  if ok then return true, answer end
  local reason = type(answer) == 'table' and answer.err or tostring(answer)
  faults = faults or {}
  if #faults < FAULTS_MAX then faults[#faults + 1] = what .. ': ' .. reason end
  return false
end
