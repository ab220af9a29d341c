#!lua flags=allow-oom
-- seal: adds the next block of a history, unless the history has changed since the caller read those chains. A full Redis
-- takes it too: only blocks that are sealed can be dropped by the budget.
-- Answer 'sealed' · 'moved' when the history has changed, or this was sent before.
local call = redis.call
--#include base/lib/usage
--#include jobs/history/blocks
--#include jobs/history/sealed

local team = Usage.team_of(call('HGET', KEYS.meta, QUEUE.name))
if not team then return 'moved' end
local queue = { localId = ARGV.localId, meta = KEYS.meta, history = KEYS.history, blocks = KEYS.blocks }
local look = Blocks.look(queue)
if not look.fits then
  Sealed.drop_blocks(team, queue)
  return 'moved'
end
local number = tonumber(ARGV.number)
if number ~= look.first + look.sealed or (number + 1) * 256 > look.stop then return 'moved' end
local _, root = Blocks.head(ARGV.block)
if call('LINDEX', KEYS.history, Blocks.place(look, number)) ~= root then return 'moved' end
Sealed.add_newest(team, queue, ARGV.block)
return 'sealed'
