#!lua flags=no-writes
-- read_ring: everything that decides whether a queue belongs in the ring, all of one moment.
-- Answer {score in the ring or '', active or '', limit or '', team number or '', ready, in flight,
--       whether `teams` holds the team (1 or 0), whether the near set has its mark}
local call = redis.call
--#include base/ring/mark
local live = call('HMGET', KEYS.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.teamNumber)
return {
  call('ZSCORE', KEYS.ring, ARGV.localId) or '', live[1] or '', live[2] or '', live[3] or '',
  call('LLEN', KEYS.ready), call('ZCARD', KEYS.inFlight),
  live[3] and call('ZSCORE', KEYS.teams, live[3]) and 1 or 0,
  call('ZSCORE', KEYS.nearSet, ARGV.localId .. '|' .. MARK_JOB) and 1 or 0,
}
