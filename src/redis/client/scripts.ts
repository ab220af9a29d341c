import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** One step: a Lua file, with the files it includes. */
export interface Script {
  readonly name: string
  readonly source: string
  readonly sha: string
}

/** Where each step lies, beside the TypeScript that sends it. */
const SCRIPT_FOLDERS = {
  beat: 'execute',
  begin_epoch: 'control',
  cancel: 'jobs',
  check_ring: 'maintenance/ring',
  check_teams: 'maintenance/ring',
  claim: 'execute/claim',
  claim_suspects: 'execute/claim',
  count_queues: 'queues',
  delete_queue: 'queues',
  drop_cron: 'crons/write',
  empty_trash: 'retention',
  enqueue: 'enqueue',
  evict_calls: 'retention',
  finish: 'execute/finish',
  list_names: 'names',
  place_cron: 'crons/write',
  pour: 'maintenance',
  promote: 'maintenance',
  purge: 'retention',
  put_setting: 'control',
  read_backlog: 'queues',
  read_crons: 'crons',
  read_queues: 'queues',
  read_usage: 'quotas',
  reap: 'maintenance',
  remove_cron: 'crons/write',
  replay: 'jobs',
  reschedule: 'retention',
  reserve_cron: 'crons/write',
  reserve_ids: 'enqueue',
  reserve_queue: 'names',
  retire_cron: 'crons/write',
  set_cron: 'crons/write',
  set_queue: 'queues',
  take_epoch: 'control',
  tick: 'crons/tick',
  trim: 'retention',
} as const
export type ScriptName = keyof typeof SCRIPT_FOLDERS
export const SCRIPT_NAMES = Object.keys(SCRIPT_FOLDERS) as readonly ScriptName[]
export type Scripts = Readonly<Record<ScriptName, Script>>

/** @param rewrite tests put a wrapper around the source: declared keys only, a set clock, a fault at a call */
export function loadScripts(
  rewrite: (source: string, name: ScriptName) => string = (source) => source,
): Scripts {
  const entries = SCRIPT_NAMES.map((name) => {
    const source = rewrite(withIncludes(readLua(pathOfScript(name))), name)
    return [name, { name, source, sha: createHash('sha1').update(source).digest('hex') }] as const
  })
  return Object.fromEntries(entries) as Record<ScriptName, Script>
}

/** From `src/redis`, such as `maintenance/promote`. */
export function pathOfScript(name: ScriptName): string {
  return `${SCRIPT_FOLDERS[name]}/${name}`
}

function withIncludes(source: string): string {
  return source.replace(/^--#include ([\w/]+)$/gm, (_, path: string) => readLua(path))
}

/** @param path from `src/redis`, such as `lib/clock` */
function readLua(path: string): string {
  return readFileSync(new URL(`../${path}.lua`, import.meta.url), 'utf8')
}
