#!lua flags=allow-oom
-- purge: removes dead letters for good. With `onlyDue` = 1 one that is not past its retention stays.
-- Answer: dead letters removed.
-- Transition: dead-lettered → (none).
--#include base/lib/clock
--#include ledger/retention/forget
--#include base/lib/usage
--#include ledger/retention/dead_letter

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local queue = {
  localId = ARGV.localId, meta = KEYS.meta, payloads = KEYS.payloads, deadLetters = KEYS.deadLetters,
  deadLetterRecords = KEYS.deadLetterRecords,
}
local removed = 0
local letters = ROWS.letters
for _, letter in ipairs(letters) do
  if DeadLetter.purge(queue, letter, ARGV.onlyDue == '1' and now or nil) then removed = removed + 1 end
end
Usage.write(KEYS.teamUsage)
return removed
