#!lua flags=allow-oom
-- trim: forgets finished chains from the old end of the history, unless either end of what the caller saw has changed.
-- Answer: chains forgotten; 0 when the history has changed.
local call = redis.call
--#include retention/forget
--#include lib/usage

-- From the newest to the oldest.
local chains = ROWS.chains
local count = #chains
if call('LINDEX', KEYS.history, -1) ~= chains[count].root or call('LINDEX', KEYS.history, -count) ~= chains[1].root then
  return 0
end
local roots, bytes = {}, 0
for i, chain in ipairs(chains) do
  roots[i] = chain.root
  bytes = bytes + call('HSTRLEN', KEYS.summaries, chain.root)
  forget(chain.jobIndex, chain.field, ARGV.localId)
end
call('HDEL', KEYS.summaries, unpack(roots))
call('LTRIM', KEYS.history, 0, -count - 1)
Usage.note(Usage.team_of(call('HGET', KEYS.meta, QUEUE.name)), -bytes, 0, 0)
Usage.write(KEYS.teamUsage)
return count
