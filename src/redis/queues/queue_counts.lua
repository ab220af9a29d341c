-- Shared by the steps that count a queue's jobs. Declares `queue_counts`. Wants `SUSPECT_WAITS`.

-- Answers ready, records, in flight, dead letters and the length of the ready list. A suspect that waits is ready, though
-- it keeps its slot.
local function queue_counts(queue, cancelled_ready)
  local in_flight = call('ZCARD', queue.inFlight)
  local waiting = in_flight > 0 and call('ZCOUNT', queue.inFlight, SUSPECT_WAITS, '+inf') or 0
  local listed = call('LLEN', queue.ready)
  local ready = listed - (tonumber(cancelled_ready or '0') or 0) + waiting
  return ready, call('HLEN', queue.records), in_flight - waiting, call('ZCARD', queue.deadLetters), listed
end
