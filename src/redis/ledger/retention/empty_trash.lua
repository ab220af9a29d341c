#!lua flags=allow-oom
-- empty_trash: forgets a page of a deleted queue's remains, with index entries and settings counts.
-- Answer 1 while something is left, 0 when the trash is gone.
local call = redis.call
--#include ledger/retention/forget
--#include base/lib/usage
--#include base/lib/record
--#include ledger/retention/release_settings

local bytes = 0
local entries = ROWS.entries
for _, entry in ipairs(entries) do
  local body = call('HGET', entry.part, entry.jobId)
  if body then
    if entry.part == KEYS.trashedRecords then release_settings_of(body) end
    bytes = bytes + #body
    if entry.part ~= KEYS.trashedSummaries and (Record.is_large(body) or not Record.is_sound(body)) then
      bytes = bytes + call('HSTRLEN', KEYS.trashedPayloads, entry.seq)
      call('HDEL', KEYS.trashedPayloads, entry.seq)
    end
    forget(entry.jobIndex, entry.field, ARGV.localId)
    call('HDEL', entry.part, entry.jobId)
  end
end
-- How the trash of this queue is called in `retentionDue` and `teamUsage`.
local trash = 't' .. ARGV.localId
Usage.note(call('HGET', KEYS.teamUsage, trash) or nil, -bytes, 0, 0)
Usage.write(KEYS.teamUsage)
if call('EXISTS', KEYS.trashedRecords, KEYS.trashedSummaries, KEYS.trashedDeadLetterRecords) > 0 then return 1 end
call('UNLINK', KEYS.trashedPayloads)
call('ZREM', KEYS.retentionDue, trash)
call('HDEL', KEYS.teamUsage, trash)
return 0
