-- Shared by the steps that read job records; lib/settle.lua says how one is written. Declares `Record`.
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
  return (tonumber(string.sub(body, 16, 16)) or 0) % 2 == 1
end

function Record.timeout_ms(body)
  return tonumber(string.match(string.sub(body, 17, 19), '^%d%d%d$') or '0') * 1000
end

-- At least 1: it is asked of suspects.
function Record.losses(body)
  return math.max(1, tonumber(string.match(string.sub(body, 15, 15), '^%d$') or '1'))
end

-- As 13 digits, or nil.
function Record.due(body)
  return string.match(body, DUE)
end
