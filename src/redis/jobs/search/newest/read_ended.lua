#!lua flags=no-writes
-- read_ended: reads finished chains of queues, each from below `ordinal` on towards the old end, with `oldest` = 1 from it on
-- towards the new end, and when the next one there ended. It stops in a queue after `count` chains, or behind the first one
-- that ended before `untilMs`, with `oldest` after it, and reads nothing more once it has read enough bytes. Only chains are
-- answered whose summaries contain each of the texts `needles`, with `skipsPlain` = 1 none that succeeded at its first attempt
-- with 200; all that were read count as looked at.
-- Answer for each queue: ordinal behind which chains are left, end of the next of them or '', how many were looked at, the
--       bytes of their summaries, then ordinal, root and summary of each chain found.
local call = redis.call
--#include jobs/search/newest/chain_ends

local queues = ROWS.queues
local needles = {}
for i = arg_at + 1, #ARGV do needles[#needles + 1] = ARGV[i] end
local skips_plain, oldest = ARGV.skipsPlain == '1', ARGV.oldest == '1'

-- A summary has up to 30 KiB or so: a step exceeds its bytes by one portion at most.
local PORTION, BYTES_MAX = 16, 256 * 1024
-- base/layout/job-record.ts and history/blocks/block.ts say what is plain.
local PLAIN = '^%["s",%[%[%d+,%-?%d+,%-?%d+,%-?%d+,%-?%d+,200%]%]'
-- Nothing ended then.
local BEYOND_ALL = '9007199254740991'
local step_bytes = 0

local function fmt(number) return string.format('%.0f', number) end

local function is_wanted(text)
  if skips_plain and string.find(text, PLAIN) then return false end
  for i = 1, #needles do
    if not string.find(text, needles[i], 1, true) then return false end
  end
  return true
end

-- Whether all that comes behind a chain with this summary is not needed yet.
local function is_beyond(text, until_ms)
  if not until_ms or is_replayed(text) then return false end
  local ended = last_end(text, 7)
  if oldest then return ended > until_ms end
  return ended < until_ms
end

-- The roots of up to a portion of chains, in the order of the list.
local function roots_from(row, stop, place, last)
  if not oldest then
    return call('LRANGE', row.history, stop - place, stop - math.max(last, place - PORTION) - 1)
  end
  local newest_first = call('LRANGE', row.history, stop - math.min(last, place + PORTION), stop - place - 1)
  local roots = {}
  for i = #newest_first, 1, -1 do roots[#roots + 1] = newest_first[i] end
  return roots
end

local function read(row)
  local trimmed = tonumber(call('HGET', row.meta, QUEUE.trimmed) or '0')
  local stop = trimmed + call('LLEN', row.history)
  local place = math.max(math.min(tonumber(row.ordinal), stop), oldest and trimmed or 0)
  local count, until_ms = tonumber(row.count), tonumber(row.untilMs)
  local last = oldest and math.min(stop, place + count) or math.max(trimmed, place - count)
  local answer, bytes, counted, from = { '', '', 0, 0 }, 0, 0, place
  local function is_left()
    if oldest then return place < last end
    return place > last
  end
  while is_left() and step_bytes < BYTES_MAX do
    local roots = roots_from(row, stop, place, last)
    for i, text in ipairs(call('HMGET', row.summaries, unpack(roots))) do
      local ordinal = oldest and place or place - 1
      place = oldest and place + 1 or ordinal
      if text then
        bytes = bytes + #text
        if is_wanted(text) then
          local n = #answer
          -- The ordinal stays a number, as making texts of numbers is slow here.
          answer[n + 1], answer[n + 2], answer[n + 3] = ordinal, roots[i], text
        end
        if is_beyond(text, until_ms) then
          last = place
          break
        end
      end
    end
    step_bytes = step_bytes + bytes - counted
    counted = bytes
  end
  answer[1], answer[3], answer[4] = fmt(place), math.abs(from - place), bytes
  if oldest then
    if place < stop then answer[2] = fmt(finished_end_from(row, stop, place)) end
  elseif place > trimmed then
    -- What may have ended at any time is read first.
    local ended = finished_end(row, trimmed, place - 1)
    answer[2] = ended and fmt(ended) or BEYOND_ALL
  end
  return answer
end

local answer = {}
for i, row in ipairs(queues) do answer[i] = read(row) end
return answer
