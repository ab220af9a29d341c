import { CommanderError } from 'commander'
import type { CallOptions } from '../../../clients/typescript/src/client.ts'
import { cliError, CONFLICT } from '../cli-error.ts'
import { visibleAscii } from './header-text.ts'

/** Fields that change without an edit, of all kinds. */
const STATE = new Set([
  ...['counts', 'next_run_at', 'last_run', 'last_success_at', 'consecutive_failures', 'warnings'],
  ...['active', 'active_since', 'ends_at', 'next_start_at'],
])
/** Of a value in an error. */
const SHOWN_CHARACTERS_MAX = 80

interface Versioned {
  readonly headers: Headers
  readonly body: object
}

export interface VersionedEdit<Edited> {
  /** What is edited, such as `queue 7`. */
  readonly what: string
  /** The body of the edit. */
  readonly text: string
  /** The version to edit; undefined = the one that is read now. */
  readonly ifMatch: string | undefined
  readonly read: () => Promise<Versioned>
  readonly send: (options: CallOptions) => Promise<Edited>
}

/** Edits one version of something. If it has another one by then, nothing is changed and the error says what differs. */
export async function editVersion<Edited>(edit: VersionedEdit<Edited>): Promise<Edited> {
  const { ifMatch, read, send } = edit
  const before = ifMatch === undefined ? await read() : null
  const version = ifMatch === undefined ? versionOf(before) : strong(visibleAscii(ifMatch, '--if-match'))
  try {
    return await send(version === null ? {} : { headers: { 'if-match': version } })
  } catch (fault) {
    if (!(fault instanceof CommanderError) || fault.exitCode !== CONFLICT) throw fault
    // What is there now only explains the conflict, which stands if it cannot be read.
    const now = await read().catch(() => null)
    throw now === null ? fault : cliError(conflictText(edit, before, now), CONFLICT)
  }
}

/** The version of what was read, which `--if-match` takes. */
export function versionOf(read: Versioned | null): string | null {
  const tag = read?.headers.get('etag') ?? null
  return tag === null ? null : strong(tag)
}

/**
 * A proxy that compresses calls the version of the answer weak (`W/"…"`), because its bytes are others; an `If-Match` of a
 * weak one never holds. It is a version of the settings, which are the same in whatever bytes.
 */
function strong(tag: string): string {
  return tag.replace(/^W\//, '')
}

/** An answer whose body has its version as well. */
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
  // Without the version that was edited, the fields of the edit are what matters.
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
