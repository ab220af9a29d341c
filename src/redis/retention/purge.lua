#!lua flags=allow-oom
-- purge: removes dead letters for good. With `onlyDue` = 1 one that is not past its retention stays.
-- Answer: dead letters removed.
-- Transition: dead-lettered → (none).
--#include lib/clock
--#include retention/forget
--#include lib/usage

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local removed, bytes = 0, 0
local letters = ROWS.letters
for _, letter in ipairs(letters) do
  local purge_at = tonumber(call('ZSCORE', KEYS.deadLetters, letter.root) or '')
  if purge_at and (ARGV.onlyDue ~= '1' or purge_at <= now) then
    bytes = bytes + call('HSTRLEN', KEYS.deadLetterRecords, letter.root) + call('HSTRLEN', KEYS.payloads, letter.seq)
    forget(letter.jobIndex, letter.field, ARGV.localId)
    call('HDEL', KEYS.payloads, letter.seq)
    call('HDEL', KEYS.deadLetterRecords, letter.root)
    call('ZREM', KEYS.deadLetters, letter.root)
    removed = removed + 1
  end
end
Usage.note(Usage.team_of(call('HGET', KEYS.meta, QUEUE.name)), -bytes, 0, 0)
Usage.write(KEYS.teamUsage)
return removed
