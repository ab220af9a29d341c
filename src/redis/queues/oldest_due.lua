-- Shared by the steps that say since when a queue's oldest ready job is due. Declares `oldest_due`. Wants `Record`.

-- Ids of cancelled jobs may stand at the head of a ready list. Behind this many of them the age is not looked for.
local HEADS_MAX = 8
local function oldest_due(queue)
  for i = 0, HEADS_MAX - 1 do
    local id = call('LINDEX', queue.ready, i)
    if not id then return '' end
    local body = call('HGET', queue.records, id)
    if body then return Record.due(body) or '' end
  end
  return ''
end
