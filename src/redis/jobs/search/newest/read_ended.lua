#!lua flags=no-writes
-- read_ended: reads finished chains of queues, each from below `ordinal` on towards the old end, and when the next one there
-- ended. It stops in a queue after `count` chains, or behind the first one that ended before `untilMs`, and reads nothing more
-- once it has read enough bytes. Only chains are answered whose summaries contain each of the texts `needles`, with
-- `skipsPlain` = 1 none that succeeded at its first attempt with 200; all that were read count as looked at.
-- Answer for each queue: ordinal below which chains are left, end of the newest of them or '', how many were looked at, the
--       bytes of their summaries, then ordinal, root and summary of each chain found.
local call = redis.call
--#include jobs/search/newest/chain_ends

local queues = ROWS.queues
local needles = {}
for i = arg_at + 1, #ARGV do needles[#needles + 1] = ARGV[i] end
local skips_plain = ARGV.skipsPlain == '1'

-- A summary has up to 30 KiB or so: a step exceeds its bytes by one portion at most.
local PORTION, BYTES_MAX = 16, 256 * 1024
-- Where it is `skips_plain`, base/layout/job-record.ts and history/blocks/block.ts say what is plain.
local PLAIN = '^%["s",%[%[%d+,%-?%d+,%-?%d+,%-?%d+,%-?%d+,200%]%]'
local step_bytes = 0

local function fmt(number) return string.format('%.0f', number) end

local function is_wanted(text)
  if skips_plain and string.find(text, PLAIN) then return false end
  for i = 1, #needles do
    if not string.find(text, needles[i], 1, true) then return false end
  end
  return true
end

local function read(row)
  local trimmed = tonumber(call('HGET', row.meta, QUEUE.trimmed) or '0')
  local stop = trimmed + call('LLEN', row.history)
  local place = math.min(tonumber(row.ordinal), stop)
  local low, ends_before = math.max(trimmed, place - tonumber(row.count)), tonumber(row.untilMs)
  local answer, bytes, counted, from = { '', '', 0, 0 }, 0, 0, place
  while place > low and step_bytes < BYTES_MAX do
    local roots = call('LRANGE', row.history, stop - place, stop - math.max(low, place - PORTION) - 1)
    for i, text in ipairs(call('HMGET', row.summaries, unpack(roots))) do
      place = place - 1
      if text then
        bytes = bytes + #text
        if is_wanted(text) then
          local n = #answer
          -- The ordinal stays a number, as making texts of numbers is slow here.
          answer[n + 1], answer[n + 2], answer[n + 3] = place, roots[i], text
        end
        if ends_before and last_end(text, 7) < ends_before then
          low = place
          break
        end
      end
    end
    step_bytes = step_bytes + bytes - counted
    counted = bytes
  end
  answer[1], answer[3], answer[4] = fmt(place), from - place, bytes
  if place > trimmed then answer[2] = fmt(finished_end(row, trimmed, place - 1)) end
  return answer
end

local answer = {}
for i, row in ipairs(queues) do answer[i] = read(row) end
return answer
