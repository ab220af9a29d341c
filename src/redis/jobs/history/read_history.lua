#!lua flags=no-writes
-- read_history: reads finished chains of one queue by their ordinals, and where its history stands. A span is the
-- ordinals `from` to below `to`; `picks` are the offsets from `from` that are wanted, with commas, or '' for all; with
-- `tests` = 1 only chains whose summaries contain each of the texts `needles` are answered. Spans and picks come newest
-- first. It stops early when `wanted` chains have passed the test, or when it has read enough bytes.
-- Answer {ordinal of the oldest chain, ordinal of the next one, ordinal up to which blocks seal the history, how many chains
--       were looked at, the bytes of their summaries, ordinal of the last one of them when it stopped early or '', then
--       ordinal, root and summary of each chain found}; the summary of a tombstone is ''.
local call = redis.call
--#include jobs/history/blocks

local spans = ROWS.spans
local needles = {}
for i = arg_at + 1, #ARGV do needles[#needles + 1] = ARGV[i] end

-- A summary has up to 30 KiB or so: a step exceeds its bytes by one portion at most.
local PORTION, BYTES_MAX = 16, 256 * 1024
local wanted = math.max(1, tonumber(ARGV.wanted))

local look = Blocks.look({ meta = KEYS.meta, history = KEYS.history, blocks = KEYS.blocks })
local function fmt(number) return string.format('%.0f', number) end
local sealed_to = look.fits and look.sealed > 0 and (look.first + look.sealed) * 256 or look.trimmed
local answer = { fmt(look.trimmed), fmt(look.stop), fmt(sealed_to), 0, 0, '' }
local looked, found, bytes = 0, 0, 0

local function holds_all(text)
  for i = 1, #needles do
    if not string.find(text, needles[i], 1, true) then return false end
  end
  return true
end

-- Answers those chains of a span that are still there.
local function chains_of(span)
  local from = tonumber(span.from)
  local low, high = math.max(from, look.trimmed), math.min(tonumber(span.to), look.stop)
  if high <= low then return {}, {} end
  local listed = call('LRANGE', KEYS.history, look.trimmed - high, look.trimmed - low - 1)
  local ordinals = {}
  if span.picks == '' then
    for i = 1, #listed do ordinals[i] = high - i end
    return listed, ordinals
  end
  local roots = {}
  for pick in string.gmatch(span.picks, '%d+') do
    local ordinal = from + pick
    local root = ordinal >= low and listed[high - ordinal]
    if root then roots[#roots + 1], ordinals[#roots + 1] = root, ordinal end
  end
  return roots, ordinals
end

-- Looks at a portion of the chains, from number `at` on. Answers the number of the next one.
local function look_at(roots, ordinals, at, is_tested)
  local to = math.min(at + PORTION - 1, #roots)
  local texts = call('HMGET', KEYS.summaries, unpack(roots, at, to))
  for i = at, to do
    local text = texts[i - at + 1] or ''
    bytes = bytes + #text
    if not is_tested or (text ~= '' and holds_all(text)) then
      if is_tested then found = found + 1 end
      local n = #answer
      -- The ordinal stays a number, as making texts of numbers is slow here.
    answer[n + 1], answer[n + 2], answer[n + 3] = ordinals[i], roots[i], text
    end
  end
  looked = looked + to - at + 1
  return to + 1
end

local last
for _, span in ipairs(spans) do
  local roots, ordinals = chains_of(span)
  local at = 1
  while at <= #roots do
    if bytes >= BYTES_MAX or found >= wanted then
      answer[6] = fmt(last)
      break
    end
    at = look_at(roots, ordinals, at, span.tests == '1')
    last = ordinals[at - 1]
  end
  if answer[6] ~= '' then break end
end
answer[4], answer[5] = looked, bytes
return answer
