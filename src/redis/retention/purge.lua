#!lua flags=allow-oom
-- purge: removes dead letters for good, those past their retention or those named.
-- KEYS  1 clk  2 ex  3 x  4 xb  5 p  6 q  7 tu  then ix:<block> × blocks
-- ARGV  lease_ms, local queue id, only due (1 or 0), (root id, seq, block index, index field)…
-- Answer: dead letters removed.
-- Transition: dead-lettered → (none).
--#include lib/clock
--#include retention/forget
--#include lib/usage

local now = shard_now(KEYS[1], KEYS[2], tonumber(ARGV[1]))
local q, only_due, removed, bytes = ARGV[2], ARGV[3] == '1', 0, 0
for i = 4, #ARGV, 4 do
  local purge_at = tonumber(call('ZSCORE', KEYS[3], ARGV[i]) or '')
  if purge_at and (not only_due or purge_at <= now) then
    bytes = bytes + call('HSTRLEN', KEYS[4], ARGV[i]) + call('HSTRLEN', KEYS[5], ARGV[i + 1])
    forget(KEYS[7 + tonumber(ARGV[i + 2])], ARGV[i + 3], q)
    call('HDEL', KEYS[5], ARGV[i + 1])
    call('HDEL', KEYS[4], ARGV[i])
    call('ZREM', KEYS[3], ARGV[i])
    removed = removed + 1
  end
end
Usage.note(Usage.team_of(call('HGET', KEYS[6], 'n')), -bytes, 0, 0)
Usage.write(KEYS[7])
return removed
