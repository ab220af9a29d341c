#!lua flags=allow-oom
-- move_part: moves the part of a bulk on when a page holds nothing to act on, or the bulk is aborted.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone'.
-- Transition of the part: running → running, done or aborted.
local call = redis.call
--#include ledger/audit-log/audit_log
--#include jobs/mending/pages/page

local refusal = Page.refusal()
if refusal then return refusal end
return Page.close(0)
