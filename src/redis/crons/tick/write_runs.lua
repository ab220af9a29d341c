-- Part of tick: what it writes of runs. Declares `write_runs`, `take_back` and `count_uses`. Wants what tick.lua plans,
-- and `guarded`.
--
-- A key of one cron or its queue may be of another type. Redis takes back nothing that a step has written before it
-- throws, and the crons of all others would run again with the next step, because their states are written last.

-- In the order of enqueue: records, ready lists, ring.
local function write_runs()
  for n, i in ipairs(ticking) do call('HSET', ROWS.plainTicks[i].records, plain[i * 5 - 1], bodies[n]) end
  local known_settings = {}
  for _, queue in ipairs(queues) do
    if queue.new_ids then
      local cron, team = queue.cron, queue.cron and queue.cron.team.name or Usage.team_of(queue.field)
      uses[queue.hash] = (uses[queue.hash] or 0) + #queue.new_ids
      if queue.is_new then
        local initial = queue.initial
        queue.team_number = number_of_team(KEYS.teamNumbers, team)
        local fields = { QUEUE.name, cron and team .. '/' or queue.field, QUEUE.settingsHash, initial.hash,
          QUEUE.timeoutSeconds, initial.timeout, QUEUE.active, '1', QUEUE.teamNumber, queue.team_number }
        if cron then
          push(fields, QUEUE.cronId, cron.id)
        else
          note_pushed(KEYS.pushedBuckets, queue.pushedBucket, queue.localId)
        end
        call('HSET', queue.meta, unpack(fields))
        if not known_settings[initial.hash] then
          known_settings[initial.hash] = true
          call('HSETNX', KEYS.settings, initial.hash, initial.json)
        end
        uses[queue.hash] = uses[queue.hash] + 1
      end
      if queue.new_payloads then call('HSET', queue.payloads, unpack(queue.new_payloads)) end
      call('HSET', queue.records, unpack(queue.new_records))
      Usage.note(team, queue.bytes, #queue.new_ids, 0)
    end
  end
  local entering = {}
  use_ring(KEYS.ring, KEYS.teams)
  for n, i in ipairs(ticking) do
    if call('RPUSH', ROWS.plainTicks[i].ready, plain[i * 5 - 1]) == 1 then
      push(entering, entry_of(team_numbers[n]), plain[i * 5 - 2])
    end
  end
  for _, queue in ipairs(queues) do
    local added = queue.new_ids and #queue.new_ids
    -- If the list was not empty, the queue is already in the ring, or may not be.
    if added and call('RPUSH', queue.ready, unpack(queue.new_ids)) == added then
      if queue.cron then
        push(entering, entry_of(queue.team_number or '0'), queue.localId)
      else
        answer[2] = answer[2] + wake(queue.localId, queue.team_number, queue.live, queue.ready, queue.inFlight)
      end
    end
  end
  if #entering > 0 then answer[2] = answer[2] + call('ZADD', KEYS.ring, 'NX', unpack(entering)) end
  for block, fields in pairs(index_fields) do
    if #fields > 0 then index_jobs(blocks[block], found_fields[block][1], nonce, fields) end
  end
  local records_max = tonumber(ARGV.recordsMax)
  for n, i in ipairs(ticking) do
    if call('LPUSH', ROWS.plainTicks[i].cronRecords, ticks[n]) > records_max then
      call('LTRIM', ROWS.plainTicks[i].cronRecords, 0, records_max - 1)
    end
  end
  for _, cron in ipairs(crons) do
    if cron.tick_records and #cron.tick_records > 0
      and call('LPUSH', cron.cronRecords, unpack(cron.tick_records)) > records_max
    then
      call('LTRIM', cron.cronRecords, 0, records_max - 1)
    end
  end
end

local function drop_from_list(list_key, value, count) call('LREM', list_key, count, value) end
local function drop_from_hash(hash_key, field) call('HDEL', hash_key, field) end
local function leave_ring(ready, local_id)
  if call('LLEN', ready) == 0 then call('ZREM', KEYS.ring, local_id) end
end

-- Takes back what `write_runs` has written before it threw. What cannot be taken back was not written.
local function take_back()
  for n, i in ipairs(ticking) do
    local job = plain[i * 5 - 1]
    guarded('ready', drop_from_list, ROWS.plainTicks[i].ready, job, -1)
    guarded('records', drop_from_hash, ROWS.plainTicks[i].records, job)
    guarded('runs', drop_from_list, ROWS.plainTicks[i].cronRecords, ticks[n], 1)
    guarded('ring', leave_ring, ROWS.plainTicks[i].ready, plain[i * 5 - 2])
  end
  for _, queue in ipairs(queues) do
    for _, job in ipairs(queue.new_ids or {}) do
      guarded('ready', drop_from_list, queue.ready, job, -1)
      guarded('records', drop_from_hash, queue.records, job)
    end
    if queue.new_ids then guarded('ring', leave_ring, queue.ready, queue.localId) end
    for i = 1, #(queue.new_payloads or {}), 2 do
      guarded('payloads', drop_from_hash, queue.payloads, queue.new_payloads[i])
    end
    -- By this field the next step knows that the queue is still to be made.
    if queue.new_ids and queue.is_new then guarded('queue', drop_from_hash, queue.meta, QUEUE.settingsHash) end
  end
  for _, cron in ipairs(crons) do
    for _, record in ipairs(cron.tick_records or {}) do guarded('runs', drop_from_list, cron.cronRecords, record, 1) end
  end
  for block, fields in pairs(index_fields) do
    for i = 1, #fields, 2 do guarded('index', drop_from_hash, blocks[block].jobIndex, fields[i]) end
  end
end

local function count_uses()
  for hash, count in pairs(uses) do call('HINCRBY', KEYS.settingsUses, hash, count) end
end
