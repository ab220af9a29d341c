-- Shared by the steps that read job records; execute/finish/settle.lua says how one is written. Declares `Record`.
--
-- A record may be damaged: by hand, by memory or disk, by a version that writes another form. A step that failed on one
-- would stop every job of its shard, so no step trusts a record: `claim` hands out a damaged one like any other, and the
-- executor, which cannot read it, has `finish` quarantine it.

local Record = {}

local DUE = '^%d%d%d%d%d%d%d%d%d%d%d%d%d'
local HEAD = DUE .. '%w%d%d%d%d%d...........%S?%d*|'

-- Whether the head is readable and a request follows the chain.
function Record.is_sound(body)
  return string.match(body, HEAD) ~= nil and string.find(body, '\n', 31, true) ~= nil
end

-- The following functions accept damaged records too and answer something harmless.

function Record.is_large(body)
  local flags = string.sub(body, 16, 16)
  return flags == '1' or flags == '3'
end

-- Whether a call of this attempt was begun and cut short.
function Record.is_cut(body)
  return string.sub(body, 31, 31) == '0' or string.sub(body, 31, 32) == '-0'
end

function Record.timeout_ms(body)
  local seconds = tonumber(string.sub(body, 17, 19))
  -- tonumber also reads 'nan' and 'inf', which no score can be.
  return seconds and seconds >= 0 and seconds < 1000 and seconds * 1000 or 0
end

-- At least 1, as only suspects are asked.
function Record.losses(body)
  return math.max(1, tonumber(string.match(string.sub(body, 15, 15), '^%d$') or '1'))
end

-- As 13 digits, or nil.
function Record.due(body)
  return string.match(body, DUE)
end
