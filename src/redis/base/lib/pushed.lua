-- Shared by the steps that make and take over pushed queues. Declares `note_pushed` and `drop_pushed`.
-- A bucket holds the ids of 512 numbers, as many as Redis keeps in a few bytes each; `pushedBuckets` lists the buckets.

local function bucket_of(id) return string.format('%.0f', math.floor(tonumber(id) / 512)) end

local function note_pushed(pushed_key, bucket_key, id)
  call('SADD', pushed_key, bucket_of(id))
  call('SADD', bucket_key, id)
end

local function drop_pushed(pushed_key, bucket_key, id)
  call('SREM', bucket_key, id)
  if call('SCARD', bucket_key) == 0 then call('SREM', pushed_key, bucket_of(id)) end
end
