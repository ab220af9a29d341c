-- Shared by the steps that throttle queues. Adds to `Flow`.

-- Takes the queue out of the ring until `Flow.look_at`.
function Flow.throttle(flow, now, local_id)
  Flow.save(flow, THROTTLED)
  call('ZADD', KEYS.nearSet, whole_text(Flow.look_at(flow, now)), local_id .. '|' .. MARK_JOB)
  call('ZREM', KEYS.ring, local_id)
end
