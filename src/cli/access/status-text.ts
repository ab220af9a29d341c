import type { Status } from '../../../clients/typescript/src/client.ts'
import { quotaTable } from './quota-table.ts'
import { columns } from '../output/text-table.ts'
import { itemView } from '../output/view.ts'

type Installation = NonNullable<Status['installation']>

export const STATUS = itemView<Status>({
  kind: 'status',
  id: ({ team }) => team,
  lines: (status) => [
    `punctual ${status.version}, team ${status.team}`,
    aliveLine(status.executors_alive),
    ...teamLines(status),
    ...(status.usage === null ? [] : [quotaTable(status.quotas, status.usage)]),
    ...(status.installation === null
      ? ['installation: shown to admins only']
      : installationLines(status.installation)),
    ...status.unknown.map(({ part, reason }) => `${part}: ${reason}`),
  ],
})

function aliveLine(areAlive: boolean | null): string {
  if (areAlive === null) return 'executors: not known'
  return areAlive
    ? 'executors: alive in every shard'
    : 'executors: NONE ALIVE in at least one shard, so its jobs wait'
}

function teamLines({ backlog, lateness_ms: lateness }: Status): readonly string[] {
  const waiting =
    backlog === null
      ? 'backlog: not known'
      : `backlog: ${backlog.pending} pending, ${backlog.in_flight} in flight, ${backlog.startable} startable, ${backlog.stopped} stopped${waitText(backlog.oldest_startable_seconds)}`
  const late =
    lateness === null
      ? 'lateness: no job ended in the last 5 minutes'
      : `lateness: p50 ${lateness.p50} ms, p99 ${lateness.p99} ms over the last 5 minutes`
  return [waiting, late]
}

/** Nothing where no job is startable, which the counts before it say. */
function waitText(seconds: number | null): string {
  return seconds === null ? '' : `, the oldest startable for ${seconds} s`
}

/** Settings of a folder are written by the process that keeps it: there is no leader. */
function leaderText(resources: Installation['resources'], epoch: number | null): string {
  return resources === 'folder' ? '' : `, leader epoch ${epoch ?? 'not known'}`
}

function installationLines({
  shards,
  resources,
  leader_epoch: epoch,
  executors,
  backlog,
  redis,
}: Installation): readonly string[] {
  return [
    `installation: ${shards} shards, settings in ${resources}${leaderText(resources, epoch)}`,
    ...(backlog === null
      ? []
      : [
          `all teams: ${backlog.ready} ready, ${backlog.in_flight} in flight, ${backlog.due_soon} due soon` +
            waitText(backlog.oldest_startable_seconds),
        ]),
    ...(executors === null ? [] : executorLines(executors)),
    columns([['REDIS', 'VERSION', 'MEMORY', 'LIMIT', 'AOF', 'SAVED', 'REPLICAS'], ...redis.map(redisRow)]),
    ...redis.flatMap(({ name, risks }) => risks.map((risk) => `${name}: ${risk}`)),
  ]
}

function executorLines({
  alive,
  slots,
  expired_leases: expired,
  executors,
}: NonNullable<Installation['executors']>): readonly string[] {
  const ended = expired === 0 ? '' : `, ${expired} leases have ended`
  const rows = executors.map((one) => [
    one.name,
    String(one.slots ?? '-'),
    String(one.in_flight ?? '-'),
    String(one.shards),
    `${Math.round(one.lease_ends_in_ms / 1000)} s`,
  ])
  const shown = executors.length < alive ? `, ${executors.length} shown` : ''
  return [
    `executors alive: ${alive}, slots: ${slots ?? '-'}${ended}${shown}`,
    ...(rows.length === 0 ? [] : [columns([['EXECUTOR', 'SLOTS', 'CALLS', 'SHARDS', 'LEASE'], ...rows])]),
  ]
}

function redisRow(server: Installation['redis'][number]): readonly string[] {
  if (!server.answers) return [server.name, 'away', '-', '-', '-', '-', '-']
  const replicas = server.replicas.map(({ is_online: isOnline, lag_seconds: lag }) =>
    isOnline ? `${lag ?? '?'} s behind` : 'not in step',
  )
  return [
    server.name,
    server.version ?? '-',
    bytes(server.used_bytes),
    bytes(server.max_bytes),
    appendOnlyText(server),
    server.saved_at ?? '-',
    replicas.length === 0 ? 'none' : replicas.join(', '),
  ]
}

function appendOnlyText({
  append_only: isOn,
  append_only_written: isWritten,
}: Installation['redis'][number]): string {
  if (isOn === null) return '-'
  if (!isOn) return 'off'
  return isWritten === false ? 'FAILING' : 'on'
}

function bytes(count: number | null): string {
  return count === null ? '-' : `${Math.ceil(count / 2 ** 20)} MiB`
}
