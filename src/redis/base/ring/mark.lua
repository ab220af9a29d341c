-- Shared by the steps that know throttled queues. Declares `THROTTLED` and `MARK_JOB`.
--
-- A queue that may not begin jobs for a while is throttled: its active flag is `THROTTLED`, so that no step puts it into the
-- ring, and `nearSet` has a mark for it, `<local id>|<MARK_JOB>`, at the time when `promote` is to look again. An executor of
-- a version that knows no marks takes it for a job that is gone, and drops it.

local THROTTLED = '2'
-- No job has this id.
local MARK_JOB = '0'
