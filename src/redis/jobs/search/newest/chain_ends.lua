-- Shared by the steps of lists by time. Declares `last_end`, `finished_end` and `finished_end_from`.

-- A tombstone ended when the chain before it did; so many are passed over.
local TOMBSTONES_MAX = 32
local TUPLE = '^%[(%d+),(%-?%d+),(%-?%d+),(%-?%d+),%-?%d+,%-?%d+()'

-- Answers the position behind the text in quotes that begins at `at`.
local function behind_quoted(text, at)
  at = at + 1
  while true do
    local found = string.find(text, '[\\"]', at)
    if not found then return #text + 1 end
    if string.sub(text, found, found) == '"' then return found + 1 end
    at = found + 2
  end
end

-- The end of the last of the attempts whose list begins at `at`: base/layout/job-record.ts says how they are written. It is
-- 0 when they are damaged.
local function last_end(text, at)
  local ended = 0
  while true do
    local scheduled, _, started, took, behind = string.match(text, TUPLE, at)
    if not behind then return 0 end
    ended = scheduled + started + took
    behind = string.match(text, '^,%-?%d+()', behind) or behind
    if string.sub(text, behind, behind + 1) == ',"' then behind = behind_quoted(text, behind + 1) end
    if string.sub(text, behind, behind + 1) ~= '],' then return ended end
    at = behind + 2
  end
end

-- The end of the last attempt of the finished chain with this ordinal. The keys `history` and `summaries` are in `row`.
local function finished_end(row, trimmed, ordinal)
  for passed = 0, TOMBSTONES_MAX do
    local older = ordinal - passed
    -- What was trimmed ended before all that is left.
    if older < trimmed then return 0 end
    local text = call('HGET', row.summaries, call('LINDEX', row.history, trimmed - older - 1))
    -- It begins '["s",[' and the attempts.
    if text then return last_end(text, 7) end
  end
  return 0
end

-- The same of the first chain from this ordinal on, for lists that begin with the oldest.
local function finished_end_from(row, stop, ordinal)
  for passed = 0, TOMBSTONES_MAX do
    local newer = ordinal + passed
    -- Nothing has ended there.
    if newer >= stop then return 0 end
    local text = call('HGET', row.summaries, call('LINDEX', row.history, stop - newer - 1))
    if text then return last_end(text, 7) end
  end
  return 0
end
