import { AUDIT_ARGS } from '../../../ledger/audit-log/audit-entry.ts'
import { BOUND_ARGS, CEILING_ROW } from '../../../ledger/quotas/ceiling-rows.ts'
import { step } from '../../../base/engine/step.ts'

/** Each group has one row or none: a page is of a part of a bulk, or one job that somebody asked for. page.lua says how. */
const PAGE_OF = {
  parts: {
    keys: ['bulksDue', 'part', 'failures', 'bulkJobs', 'bulkWaiting'],
    args: [
      'member',
      'outcomeMember',
      'version',
      'nonce',
      'place',
      'state',
      'isNamed',
      'perJobMs',
      'restMs',
      'failuresMax',
      'jobsMax',
      'keepSeconds',
    ],
  },
  audits: { keys: ['auditLog', 'auditCounts'], args: AUDIT_ARGS },
  misfits: { args: ['jobId', 'reason', 'isChange'] },
} as const

/** The keys that acting on jobs that have not ended needs. */
const OPEN_KEYS = [
  'clock',
  'executors',
  'ring',
  'teams',
  'nearSet',
  'minutes',
  'settings',
  'settingsUses',
  'teamUsage',
  'shardUsage',
  'suspects',
] as const
const OPEN_QUEUE_KEYS = ['meta', 'ready', 'records', 'inFlight', 'payloads'] as const
const JOBS = { keys: ['jobIndex'], args: ['queue', 'id', 'root', 'seq', 'field'] } as const

export const MOVE_PART = step('move_part', import.meta.url, { rows: PAGE_OF })
export const OPEN_PAGE = step('open_page', import.meta.url, {
  keys: OPEN_KEYS,
  args: ['leaseMs', 'action', 'askedMs'],
  rows: {
    ...PAGE_OF,
    queues: { queueKeys: OPEN_QUEUE_KEYS, args: ['localId'] },
    jobs: { keys: ['jobIndex'], args: ['queue', 'id', 'seq', 'field'] },
  },
})
export const PURGE_PAGE = step('purge_page', import.meta.url, {
  keys: ['teamUsage'],
  rows: {
    ...PAGE_OF,
    queues: { queueKeys: ['meta', 'payloads', 'deadLetters', 'deadLetterRecords'], args: ['localId'] },
    jobs: JOBS,
  },
})
export const REMAKE_PAGE = step('remake_page', import.meta.url, {
  keys: ['clock', 'executors', 'ring', 'teams', 'retentionDue', 'settingsUses', 'teamUsage', 'jobBlock'],
  args: ['leaseMs', 'action', 'retainMs', 'blockNonce', ...BOUND_ARGS],
  rows: {
    ...PAGE_OF,
    teams: CEILING_ROW,
    queues: {
      queueKeys: [...OPEN_QUEUE_KEYS, 'deadLetters', 'deadLetterRecords', 'history', 'summaries'],
      args: ['localId'],
    },
    jobs: {
      keys: ['jobIndex'],
      args: [
        'queue',
        'oldId',
        'root',
        'oldSeq',
        'id',
        'seq',
        'block',
        'field',
        'timeout',
        'request',
        'large',
        'summary',
        'before',
      ],
    },
  },
})
export const DELETE_PAGE = step('delete_page', import.meta.url, {
  keys: [...OPEN_KEYS, 'oldestCalls', 'sealedHistories'],
  args: ['leaseMs', 'shards'],
  rows: {
    ...PAGE_OF,
    queues: {
      queueKeys: [
        ...OPEN_QUEUE_KEYS,
        'deadLetters',
        'deadLetterRecords',
        'history',
        'blocks',
        'summaries',
        'callRecords',
        'failedCalls',
        'successfulCalls',
      ],
      args: ['localId'],
    },
    jobs: JOBS,
  },
})
