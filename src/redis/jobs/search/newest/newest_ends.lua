#!lua flags=no-writes
-- newest_ends: finds where the ended jobs of queues go on in a list that has come to a time, and when the next one of each
-- ended. `oldest` = 1 is for lists that begin with the oldest. A row without a place asks for those that ended at `at` or
-- before, with `oldest` then or later, '' = for all; a row with a place asks for those behind it: `ordinal` in the history,
-- `purge` and `root` among the dead letters.
-- Answer for each queue: ordinal below which finished chains are left, with `oldest` from which on, and end of the first of
--       them or ''; purge and root of the dead letter behind which others are left (a purge beyond all, or 0, and '' when
--       that is all of them), end of the first of them or ''.
-- The search halves by fixed ordinals, so that it comes to the same place when chains were added or trimmed meanwhile, also
-- where ends are not in their order.
local call = redis.call
--#include jobs/search/newest/chain_ends

-- So many dead letters of one millisecond are looked through for the place of one that has left.
local SAME_PURGE_MAX = 1000
-- Nothing ended or is purged then.
local BEYOND_ALL = '9007199254740991'
local oldest = ARGV.oldest == '1'

-- The end of a dead letter's last attempt: jobs/execute/finish/settle.lua says what it is made of.
local function end_in_letter(text)
  if string.sub(text, 1, 1) == '!' then return tonumber(string.sub(text, 3, 15)) or 0 end
  local bar = string.find(text, '|', 31, true)
  return bar and last_end(text, bar + 2) or 0
end

-- The same of the dead letter of this rank, from the first purge to the last.
local function dead_end(row, rank)
  local root = call('ZRANGE', row.deadLetters, rank, rank)[1]
  return end_in_letter(root and call('HGET', row.deadLetterRecords, root) or '')
end

-- How many of `count` come before `at`; `trimmed` = they are finished chains, else dead letters.
local function count_until(row, trimmed, count, at)
  local function is_until(number)
    if not trimmed then return dead_end(row, number) <= at end
    return (finished_end(row, trimmed, number) or 0) <= at
  end
  if count == 0 or is_until(count - 1) then return count end
  local found, stride = 0, 1
  while stride * 2 <= count do stride = stride * 2 end
  while stride >= 1 do
    local probed = found + stride
    if probed <= count and is_until(probed - 1) then found = probed end
    stride = stride / 2
  end
  return found
end

local function fmt(number) return string.format('%.0f', number) end

local function finished_in(row, at)
  local trimmed = tonumber(call('HGET', row.meta, QUEUE.trimmed) or '0')
  local stop = trimmed + call('LLEN', row.history)
  local place = oldest and trimmed or stop
  if row.ordinal ~= '' then
    place = math.min(tonumber(row.ordinal), stop)
  elseif at then
    place = count_until(row, trimmed, stop, oldest and at - 1 or at)
  end
  if oldest then
    place = math.max(place, trimmed)
    return fmt(place), place < stop and fmt(finished_end_from(row, stop, place)) or ''
  end
  if place <= trimmed then return fmt(place), '' end
  -- What may have ended at any time is read first.
  local ended = finished_end(row, trimmed, place - 1)
  return fmt(place), ended and fmt(ended) or BEYOND_ALL
end

-- The rank that a dead letter had that has left: letters of one purge stand by the bytes of their roots.
local function rank_of(letters, purge, root)
  local rank = call('ZCOUNT', letters, '-inf', '(' .. purge)
  for _, other in ipairs(call('ZRANGE', letters, purge, purge, 'BYSCORE', 'LIMIT', 0, SAME_PURGE_MAX)) do
    if other < root then rank = rank + 1 end
  end
  return rank
end

local function dead_in(row, at)
  local count = call('ZCARD', row.deadLetters)
  if row.purge ~= '' then
    local rank = call('ZRANK', row.deadLetters, row.root)
    local left = rank or rank_of(row.deadLetters, row.purge, row.root)
    if oldest then
      local first = rank and rank + 1 or left
      return row.purge, row.root, first < count and fmt(dead_end(row, first)) or ''
    end
    return row.purge, row.root, left > 0 and fmt(dead_end(row, left - 1)) or ''
  end
  if oldest then
    local first = at and count_until(row, nil, count, at - 1) or 0
    local before = first > 0 and call('ZRANGE', row.deadLetters, first - 1, first - 1, 'WITHSCORES') or {}
    return before[2] or '0', before[1] or '', first < count and fmt(dead_end(row, first)) or ''
  end
  local left = at and count_until(row, nil, count, at) or count
  local behind = left < count and call('ZRANGE', row.deadLetters, left, left, 'WITHSCORES') or {}
  return behind[2] or BEYOND_ALL, behind[1] or '', left > 0 and fmt(dead_end(row, left - 1)) or ''
end

local queues = ROWS.queues
local answer = {}
for i, row in ipairs(queues) do
  local at = tonumber(row.at)
  local ordinal, chain_ended = finished_in(row, at)
  local purge, root, letter_ended = dead_in(row, at)
  answer[i] = { ordinal, chain_ended, purge, root, letter_ended }
end
return answer
