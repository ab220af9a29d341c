#!lua flags=no-writes
-- match_blocks: finds the blocks of a history that may hold a match, among those below number `below`, newest first. Such a
-- block meets all `ranges` of times (of creation, schedule and end), its key filter may hold the keys that have
-- these `probes`, and its codes contain each of the texts `codes`. A block that cannot be read may hold anything.
-- Answer {number of the last block looked at, then number and text of each that may hold a match}; {} when there is no block
-- `below` - 1, or when the blocks are not those of the history.
local call = redis.call
--#include jobs/history/blocks

local ranges = ROWS.ranges
local probes = ROWS.probes
local codes = {}
for i = arg_at + 1, #ARGV do codes[#codes + 1] = ARGV[i] end

-- One step looks at as many blocks, in portions, and stops when it has found or read enough. Blocks have 32 B to 12 kB.
local LOOKED_MAX, PORTION, FOUND_MAX = 1000, 32, 64
local BYTES_MAX = 1024 * 1024
-- These are the figures of key-filter.ts.
local PROBES, BITS = 11, 6
local ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

local byte, find, match = string.byte, string.find, string.match
local values, powers = {}, {}
for i = 1, 64 do values[byte(ALPHABET, i)] = i - 1 end
powers[0] = 1
for i = 1, BITS - 1 do powers[i] = 2 * powers[i - 1] end

local is_bounded = false
for _, range in ipairs(ranges) do
  range.after, range.before = tonumber(range.after), tonumber(range.before)
  is_bounded = is_bounded or range.after or range.before
end
for _, key in ipairs(probes) do key.first, key.next = tonumber(key.first), tonumber(key.next) end

-- The filter has `length` characters, from `from` on.
local function may_hold(text, from, length, key)
  local bits = length * BITS
  if bits == 0 then return false end
  local place, step = key.first, key.next
  for _ = 1, PROBES do
    local at = place % bits
    local bit = at % BITS
    local value = values[byte(text, from + (at - bit) / BITS)]
    if value and value % (2 * powers[bit]) < powers[bit] then return false end
    place, step = place + step, step + 1
  end
  return true
end

local function meets(range, least, greatest)
  return (not range.after or tonumber(greatest) >= range.after) and
    (not range.before or tonumber(least) < range.before)
end

local function may_match(text)
  local length, from = match(text, '^%[%d+,%d+,(%d+),"()')
  length = tonumber(length)
  if not length or byte(text, -1) ~= 93 then return true end
  for i = 1, #probes do
    if not may_hold(text, from, length, probes[i]) then return false end
  end
  if is_bounded then
    local c0, c1, s0, s1, e0, e1 = match(text,
      '^",%[(%d+),(%d+)%],%[(%d+),(%d+)%],%[(%d+),(%d+)%]', from + length)
    if e1 and not (meets(ranges[1], c0, c1) and meets(ranges[2], s0, s1) and meets(ranges[3], e0, e1)) then
      return false
    end
  end
  for i = 1, #codes do
    if not find(text, codes[i], from + length, true) then return false end
  end
  return true
end

local look = Blocks.look({ meta = KEYS.meta, history = KEYS.history, blocks = KEYS.blocks })
local stop = look.fits and look.first + look.sealed or 0
local number = tonumber(ARGV.below)
if number > stop or number <= look.first then return {} end
local answer = { '' }
local last = math.max(look.first, number - LOOKED_MAX)
local bytes = 0
while number > last and bytes < BYTES_MAX do
  local from = stop - number
  for _, text in ipairs(call('LRANGE', KEYS.blocks, from, from + math.min(PORTION, number - last) - 1)) do
    number = number - 1
    bytes = bytes + #text
    if may_match(text) then
      answer[#answer + 1] = string.format('%.0f', number)
      answer[#answer + 1] = text
      if #answer > 2 * FOUND_MAX then last = number break end
    end
  end
end
answer[1] = string.format('%.0f', number)
return answer
