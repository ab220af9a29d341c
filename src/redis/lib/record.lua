-- Shared by the steps that read job records; execute/finish/settle.lua says how one is written. Declares `Record`.
--
-- A record may be damaged: by a hand, by memory or disk, by a version that writes another form. A step that died of one
-- would stop every job of its shard. So none trusts a record: `claim` hands a damaged one out like any other, and the
-- executor, which cannot read it, has `finish` set it aside.

local Record = {}

local DUE = '^%d%d%d%d%d%d%d%d%d%d%d%d%d'
local HEAD = DUE .. '%w%d%d%d%d%d...........%S?%d*|'

-- Whether the head can be read, and a request follows the chain.
function Record.is_sound(body)
  return string.match(body, HEAD) ~= nil and string.find(body, '\n', 31, true) ~= nil
end

-- What follows may be asked of a damaged record too: it answers something that harms nobody.

function Record.is_large(body)
  local flags = string.sub(body, 16, 16)
  return flags == '1' or flags == '3'
end

function Record.timeout_ms(body)
  local seconds = tonumber(string.sub(body, 17, 19))
  -- What is no number may be read as one that no score can be.
  return seconds and seconds >= 0 and seconds < 1000 and seconds * 1000 or 0
end

-- At least 1: it is asked of suspects.
function Record.losses(body)
  return math.max(1, tonumber(string.match(string.sub(body, 15, 15), '^%d$') or '1'))
end

-- As 13 digits, or nil.
function Record.due(body)
  return string.match(body, DUE)
end
