-- Shared by the steps that make queues. Declares `number_of_team`.

-- A team's number in this shard, assigned with its first queue. The first 65,534 teams have a band of the ring each; later
-- teams share the last one.
local function number_of_team(tn, team)
  local known = call('HGET', tn, team)
  if known then return known end
  local u = string.format('%.0f', math.min(call('HLEN', tn) + 1, 65535))
  call('HSET', tn, team, u)
  return u
end
