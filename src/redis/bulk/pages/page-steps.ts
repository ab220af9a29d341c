import { step } from '../../client/step.ts'

/** What every page needs to move its part on; page.lua says how. */
const PAGE_KEYS = ['bulksDue', 'part', 'failures'] as const
const PAGE_ARGS = [
  ...(['member', 'version', 'nonce', 'place', 'state', 'isNamed'] as const),
  ...(['perJobMs', 'failuresMax', 'keepSeconds'] as const),
] as const
const MISFITS = { args: ['jobId', 'reason', 'isChange'] } as const

export const MOVE_PART = step('move_part', import.meta.url, {
  keys: PAGE_KEYS,
  args: PAGE_ARGS,
  rows: { misfits: MISFITS },
})
export const OPEN_PAGE = step('open_page', import.meta.url, {
  keys: [
    ...PAGE_KEYS,
    ...(['clock', 'executors', 'ring', 'teams', 'nearSet', 'minutes', 'settings'] as const),
    ...(['settingsUses', 'teamUsage', 'shardUsage', 'suspects'] as const),
  ],
  args: [...PAGE_ARGS, 'leaseMs', 'action'],
  rows: {
    misfits: MISFITS,
    queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight', 'payloads'], args: ['localId'] },
    jobs: { keys: ['jobIndex'], args: ['queue', 'id', 'seq', 'field'] },
  },
})
export const PURGE_PAGE = step('purge_page', import.meta.url, {
  keys: [...PAGE_KEYS, 'teamUsage'],
  args: PAGE_ARGS,
  rows: {
    misfits: MISFITS,
    queues: { queueKeys: ['meta', 'payloads', 'deadLetters', 'deadLetterRecords'], args: ['localId'] },
    jobs: { keys: ['jobIndex'], args: ['queue', 'id', 'root', 'seq', 'field'] },
  },
})
export const REMAKE_PAGE = step('remake_page', import.meta.url, {
  keys: [
    ...PAGE_KEYS,
    ...(['clock', 'executors', 'ring', 'teams', 'retentionDue', 'settingsUses', 'teamUsage'] as const),
  ],
  args: [
    ...PAGE_ARGS,
    ...(['leaseMs', 'action', 'retainMs', 'blockNonce', 'month', 'monthEndsMs', 'allBytesMax'] as const),
    ...(['team', 'jobsMax', 'bytesMax', 'monthMax', 'isShare'] as const),
  ],
  rows: {
    misfits: MISFITS,
    queues: {
      queueKeys: [
        ...(['meta', 'ready', 'records', 'inFlight', 'payloads'] as const),
        ...(['deadLetters', 'deadLetterRecords', 'history', 'summaries'] as const),
      ],
      args: ['localId'],
    },
    jobs: {
      keys: ['jobIndex'],
      args: [
        ...(['queue', 'oldId', 'root', 'oldSeq', 'id', 'seq', 'field', 'timeout'] as const),
        ...(['request', 'large', 'summary', 'before'] as const),
      ],
    },
  },
})
export const DELETE_PAGE = step('delete_page', import.meta.url, {
  keys: [
    ...PAGE_KEYS,
    ...(['clock', 'executors', 'ring', 'teams', 'nearSet', 'minutes', 'settings'] as const),
    ...(['settingsUses', 'teamUsage', 'shardUsage', 'suspects', 'oldestCalls', 'sealedHistories'] as const),
  ],
  args: [...PAGE_ARGS, 'leaseMs', 'shards'],
  rows: {
    misfits: MISFITS,
    queues: {
      queueKeys: [
        ...(['meta', 'ready', 'records', 'inFlight', 'payloads'] as const),
        ...(['deadLetters', 'deadLetterRecords', 'history', 'blocks', 'summaries'] as const),
        ...(['callRecords', 'failedCalls', 'successfulCalls'] as const),
      ],
      args: ['localId'],
    },
    jobs: { keys: ['jobIndex'], args: ['queue', 'id', 'root', 'seq', 'field'] },
  },
})
