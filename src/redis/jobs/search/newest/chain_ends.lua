-- Shared by the steps of lists by time. Declares `last_end`, `finished_end` and `finished_end_from`.

-- So many chains are passed over that have no end of their own in the order of their history: tombstones, and dead letters
-- that were replayed, which stand where they were.
local PASSED_MAX = 32
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

-- Whether this summary is that of a dead letter, which has come to its history by a replay.
local function is_replayed(text) return string.sub(text, 1, 5) == '["d",' end

-- When the finished chain with this ordinal ended, or the newest of those before that nothing in between is newer than. The
-- keys `history` and `summaries` are in `row`. Is 0 when nothing is there, and nil when too many were passed over.
local function finished_end(row, trimmed, ordinal)
  if ordinal < trimmed then return 0 end
  local text = call('HGET', row.summaries, call('LINDEX', row.history, trimmed - ordinal - 1))
  -- It begins '["s",[' and the attempts.
  if text and not is_replayed(text) then return last_end(text, 7) end
  local newest = text and last_end(text, 7) or 0
  local low = math.max(trimmed, ordinal - PASSED_MAX)
  if low == ordinal then return newest end
  local roots = call('LRANGE', row.history, trimmed - ordinal, trimmed - low - 1)
  for _, other in ipairs(call('HMGET', row.summaries, unpack(roots))) do
    if other then
      newest = math.max(newest, last_end(other, 7))
      if not is_replayed(other) then return newest end
    end
  end
  if low > trimmed then return nil end
  return newest
end

-- When the first chain from this ordinal on ended that has its end in the order of the history, for lists that begin with the
-- oldest. Is 0 when too many were passed over, or nothing else is there.
local function finished_end_from(row, stop, ordinal)
  local text = call('HGET', row.summaries, call('LINDEX', row.history, stop - ordinal - 1))
  if text and not is_replayed(text) then return last_end(text, 7) end
  local high = math.min(stop, ordinal + 1 + PASSED_MAX)
  if high == ordinal + 1 then return 0 end
  local texts = call('HMGET', row.summaries, unpack(call('LRANGE', row.history, stop - high, stop - ordinal - 2)))
  for i = #texts, 1, -1 do
    if texts[i] and not is_replayed(texts[i]) then return last_end(texts[i], 7) end
  end
  return 0
end
