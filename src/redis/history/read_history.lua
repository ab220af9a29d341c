#!lua flags=no-writes
-- read_history: reads finished chains of one queue by their ordinals, and where its history stands. A span is the
-- ordinals `from` to below `to`; `picks` are the offsets from `from` that are wanted, with commas, or '' for all.
-- Answer {ordinal of the oldest chain, ordinal of the next one, ordinal up to which blocks seal the history, then ordinal,
--       root and summary of each chain, span by span, newest first}; the summary of a tombstone is ''.
local call = redis.call
--#include history/blocks

local look = Blocks.look()
local function fmt(number) return string.format('%.0f', number) end
local sealed_to = look.fits and look.sealed > 0 and (look.first + look.sealed) * 256 or look.trimmed
local answer = { fmt(look.trimmed), fmt(look.stop), fmt(sealed_to) }
local spans = ROWS.spans
for _, span in ipairs(spans) do
  local from = tonumber(span.from)
  local low, high = math.max(from, look.trimmed), math.min(tonumber(span.to), look.stop)
  if high > low then
    local listed = call('LRANGE', KEYS.history, look.trimmed - high, look.trimmed - low - 1)
    local roots, ordinals = {}, {}
    if span.picks == '' then
      for i, root in ipairs(listed) do roots[i], ordinals[i] = root, high - i end
    else
      for pick in string.gmatch(span.picks, '%d+') do
        local root = listed[high - from - tonumber(pick)]
        if root and from + pick >= low then
          roots[#roots + 1], ordinals[#roots + 1] = root, from + pick
        end
      end
    end
    if #roots > 0 then
      local texts = call('HMGET', KEYS.summaries, unpack(roots))
      for i, root in ipairs(roots) do
        local n = #answer
        answer[n + 1], answer[n + 2], answer[n + 3] = fmt(ordinals[i]), root, texts[i] or ''
      end
    end
  end
end
return answer
