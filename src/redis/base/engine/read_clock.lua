#!lua flags=no-writes
-- read_clock: Redis's clock, and what a shard has noted of it; lib/clock says what the fields are.
-- Answer {seconds, microseconds, time of the last step or '', time of the last jump or '', jumps back or '', lost jobs or
--       '', when a loss was last told or '', latest time before a jump back or '',
--       ms held or ''}
local call = redis.call
local now = call('TIME')
local noted = call('HMGET', KEYS.clock, CLOCK.lastTime, CLOCK.jumpedAt, CLOCK.jumpsBack, CLOCK.lostJobs, CLOCK.lossToldAt,
  CLOCK.latestTime, CLOCK.heldMs)
return { now[1], now[2], noted[1] or '', noted[2] or '', noted[3] or '', noted[4] or '', noted[5] or '',
  noted[6] or '', noted[7] or '' }
