-- Shared by the steps of sessions. Declares `SessionRecord`. A field of the hash `sessions` is the hash of a session's
-- secret, its value '<created>|<used>|<end>|<what it stands for, sealed>', times in Unix ms. The field with a '+' before
-- that name holds where the session was opened, as JSON. An earlier version writes none and removes those that it meets:
-- a session without one is as good as any other, only less is known of it.

local SessionRecord = {}

function SessionRecord.now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Answers created, used, end and what it stands for; nothing for a record that has ended or is damaged.
function SessionRecord.open(record, now, idle_ms)
  local created, used, ends, sealed = string.match(record or '', '^(%d+)|(%d+)|(%d+)|(.+)$')
  if not created then return nil end
  if now >= tonumber(ends) or now - tonumber(used) >= idle_ms then return nil end
  return created, used, ends, sealed
end

function SessionRecord.text(created, used, ends, sealed)
  return string.format('%.0f|%.0f|%.0f|%s', created, used, ends, sealed)
end

-- The field that holds where a session was opened.
function SessionRecord.origin(session)
  return '+' .. session
end

-- The session whose origin such a field holds; nil for the field of a session.
function SessionRecord.of_origin(field)
  return string.match(field, '^%+(.*)$')
end
