import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** One step: a Lua file of `scripts/`, with what it includes from `scripts/lib/`. */
export interface Script {
  readonly name: string
  readonly source: string
  readonly sha: string
}

export const SCRIPT_NAMES = [
  'beat',
  'begin_term',
  'cancel',
  'check_ring',
  'check_teams',
  'claim',
  'claim_suspects',
  'count_queues',
  'delete_queue',
  'drop_cron',
  'empty_trash',
  'enqueue',
  'evict_calls',
  'finish',
  'list_names',
  'place_cron',
  'pour',
  'promote',
  'purge',
  'put_setting',
  'read_backlog',
  'read_usage',
  'read_crons',
  'read_queues',
  'reap',
  'remove_cron',
  'replay',
  'reschedule',
  'reserve_cron',
  'reserve_ids',
  'reserve_queue',
  'retire_cron',
  'set_cron',
  'set_queue',
  'take_term',
  'tick',
  'trim',
] as const
export type ScriptName = (typeof SCRIPT_NAMES)[number]
export type Scripts = Readonly<Record<ScriptName, Script>>

/** @param rewrite tests put a wrapper around the source: declared keys only, a set clock, a fault at a call */
export function loadScripts(
  rewrite: (source: string, name: ScriptName) => string = (source) => source,
): Scripts {
  const entries = SCRIPT_NAMES.map((name) => {
    const source = rewrite(withIncludes(readLua(`${name}.lua`)), name)
    return [name, { name, source, sha: createHash('sha1').update(source).digest('hex') }] as const
  })
  return Object.fromEntries(entries) as Record<ScriptName, Script>
}

function withIncludes(source: string): string {
  return source.replace(/^--#include (\w+)$/gm, (_, part: string) => readLua(`lib/${part}.lua`))
}

function readLua(path: string): string {
  return readFileSync(new URL(`./scripts/${path}`, import.meta.url), 'utf8')
}
