-- Shared by the steps that make jobs. Declares `index_jobs`. Wants `call` and KEYS.jobBlock.
--
-- Writes jobs to the index of their id block. owner: of the block as it was read, nil = none · nonce: marks the caller ·
-- fields: for each job its place in the block, and the local id of its queue. The first write makes the block the
-- caller's. A Redis that lost its last writes may have forgotten that the block was reserved, and would give it out again
-- once it is empty, so the counter is raised to it.
local function index_jobs(block, owner, nonce, fields)
  if not owner and tonumber(call('GET', KEYS.jobBlock) or '-1') < tonumber(block.block) then
    call('SET', KEYS.jobBlock, block.block)
  end
  call('HSET', block.jobIndex, INDEX.owner, nonce, unpack(fields))
end
