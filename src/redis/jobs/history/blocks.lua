-- Shared by the steps on finished chains. Declares `Blocks`. A queue is a table of its keys: `meta`,
-- `history` and `blocks`.
--
-- Every chain that enters a history has an ordinal there, from 0 on, for good: `trimmed` counts those that have left it at
-- the old end, and the oldest one left has that ordinal. Block n seals the ordinals 256 n to 256 n + 255; the list holds
-- the newest first, and at its end the block in which the oldest chain is. history/blocks/block.ts says what a block holds; it
-- begins '[' bytes of its summaries ',' its newest root ','.

local CHAINS = 256
local Blocks = {}

-- The bytes that a block says its summaries had, and its newest root.
function Blocks.head(text)
  local bytes, root = string.match(text, '^%[(%d+),(%d+),')
  return tonumber(bytes or '0'), root
end

-- Where a history stands: `trimmed`, `stop` (the ordinal of the next chain), `first` and `sealed` (number of the oldest
-- block, and how many there are). `fits` is false when the blocks are not those of these chains, which nothing but a defect
-- or a hand can bring about.
function Blocks.look(queue)
  local trimmed = tonumber(call('HGET', queue.meta, QUEUE.trimmed) or '0')
  local oldest = call('LINDEX', queue.blocks, -1)
  local look = {
    trimmed = trimmed,
    stop = trimmed + call('LLEN', queue.history),
    first = math.floor(trimmed / CHAINS),
    sealed = call('LLEN', queue.blocks),
    fits = true,
  }
  if oldest then
    local _, root = Blocks.head(oldest)
    look.fits = call('LINDEX', queue.history, Blocks.place(look, look.first)) == root
  end
  return look
end

-- Where in the list of chains the newest chain of block `number` is, counted from the old end as LINDEX does.
function Blocks.place(look, number)
  return look.trimmed - (number + 1) * CHAINS
end
