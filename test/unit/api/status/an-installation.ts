import type { LiveReading } from '../../../../src/ports/live/live.ts'
import type { InstallationStatus } from '../../../../src/ports/live/status.ts'

export const AN_INSTALLATION: InstallationStatus = {
  shards: 2,
  leaderEpoch: 12,
  executors: {
    areEverywhere: true,
    alive: 1,
    slots: 256,
    expiredLeases: 0,
    executors: [{ name: 'executor-0', slots: 256, shards: 2, leaseEndsInMs: 11_200 }],
  },
  backlog: { ready: 14, inFlight: 3, dueSoon: 2, oldestReadyMs: 1_500, held: new Map([['executor-0', 3]]) },
  servers: new Map([
    [
      '10.0.0.7:6379',
      {
        name: '10.0.0.7:6379',
        version: '8.2.1',
        replicas: [{ name: '10.0.0.8:6379', isOnline: true, lagSeconds: 0 }],
        usedBytes: 734_003,
        maxBytes: 0,
        evictedKeys: 0,
        isAppendOnly: true,
        isAppendOnlyWritten: true,
        savedAtSeconds: Date.UTC(2026, 10, 21, 10) / 1000,
        risks: [],
      },
    ],
  ]),
}

export const LIVE: LiveReading = {
  figures: {
    pending: 5,
    inFlight: 2,
    startable: 1,
    stopped: 2,
    oldestStartable: { ageMs: 1_500, queue: { id: 7, name: 'emails' } },
    unreadAlerts: 0,
  },
  changed: new Set(),
  marks: [],
}
