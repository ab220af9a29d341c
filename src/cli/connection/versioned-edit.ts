import { CommanderError } from 'commander'
import type { CallOptions } from '../../../clients/typescript/src/client.ts'
import { cliError, CONFLICT } from '../cli-error.ts'
import { visibleAscii } from './header-text.ts'

/** These fields, of all kinds, change without an edit. */
const STATE = new Set([
  'counts',
  'throttled',
  'next_run_at',
  'last_run',
  'last_success_at',
  'consecutive_failures',
  'warnings',
  'active',
  'active_since',
  'ends_at',
  'next_start_at',
])
/** Values are cut to this length in an error. */
const SHOWN_CHARACTERS_MAX = 80

interface Versioned {
  readonly headers: Headers
  readonly body: object
}

export interface VersionedEdit<Edited> {
  /** Names what is edited, such as `queue 7`. */
  readonly what: string
  /** The body of the edit. */
  readonly text: string
  /** The version to edit; undefined = the one that is read first. */
  readonly ifMatch: string | undefined
  readonly read: () => Promise<Versioned>
  readonly send: (options: CallOptions) => Promise<Edited>
}

/**
 * Edits one version of something. If there is another version by then, nothing is changed and the error says what
 * differs.
 */
export async function editVersion<Edited>(edit: VersionedEdit<Edited>): Promise<Edited> {
  const { ifMatch, read, send } = edit
  const before = ifMatch === undefined ? await read() : null
  const version = ifMatch === undefined ? versionOf(before) : strong(visibleAscii(ifMatch, '--if-match'))
  try {
    return await send(version === null ? {} : { headers: { 'if-match': version } })
  } catch (fault) {
    if (!(fault instanceof CommanderError) || fault.exitCode !== CONFLICT) throw fault
    // The present version only explains the conflict, which stands if it cannot be read.
    const now = await read().catch(() => null)
    throw now === null ? fault : cliError(conflictText(edit, before, now), CONFLICT)
  }
}

/** The version in an answer, which `--if-match` takes. */
export function versionOf(read: Versioned | null): string | null {
  const tag = read?.headers.get('etag') ?? null
  return tag === null ? null : strong(tag)
}

/**
 * A proxy that compresses an answer makes its version weak (`W/"…"`), because the bytes are others, and an `If-Match`
 * with a weak version never holds. Here it stands for settings, which are the same in whatever bytes, so the mark is
 * dropped.
 */
function strong(tag: string): string {
  return tag.replace(/^W\//, '')
}

/** Puts the version of an answer into its body. */
export function withVersion<Answer extends Versioned>(
  answer: Answer,
): Answer & { readonly body: Answer['body'] & { readonly version: string | null } } {
  return { ...answer, body: { ...answer.body, version: versionOf(answer) } }
}

function conflictText(
  { what, text }: VersionedEdit<unknown>,
  before: Versioned | null,
  now: Versioned,
): string {
  const fields = Object.entries(now.body)
  // The version that was edited is not known, so only the fields of the edit matter.
  const told =
    before === null
      ? fields.filter(([name]) => Object.hasOwn(JSON.parse(text) as object, name))
      : fields.filter(
          ([name, value]) => !STATE.has(name) && valueText(value) !== valueText(fieldOf(before, name)),
        )
  const differences = told.map(([name, value]) => {
    const former = before === null ? '' : ` (was ${shownText(fieldOf(before, name))})`
    return `${name} is ${shownText(value)}${former}`
  })
  const list = differences.length === 0 ? '' : `: ${differences.join(', ')}`
  return `${what} has changed, so nothing was edited; its version is now ${versionOf(now)}${list}`
}

function fieldOf({ body }: Versioned, name: string): unknown {
  return (body as Readonly<Record<string, unknown>>)[name]
}

function valueText(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing'
}

function shownText(value: unknown): string {
  const text = valueText(value)
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`
}
