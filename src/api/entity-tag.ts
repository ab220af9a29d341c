import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { EditConflictError } from '../domain/errors.ts'

const TAG_CHARACTERS = 16

/** The entity tag of a resource: the same settings have the same one, in every process. With its quotes. */
export function entityTagOf(settings: object): string {
  return `"${hash('sha256', canonical(settings), 'base64url').slice(0, TAG_CHARACTERS)}"`
}

/** The header in the form that `answerJson` takes. */
export function entityTagHeader(settings: object): readonly string[] {
  return ['ETag', entityTagOf(settings)]
}

/**
 * The check that `If-Match` asks for, of the settings that an edit changes; null without the header. `*` matches
 * everything that exists. The check throws EditConflictError.
 */
export function ifMatchOf({ headers }: IncomingMessage): ((current: object) => void) | null {
  const wanted = headers['if-match']?.trim()
  if (wanted === undefined || wanted === '*') return null
  const tags = wanted.split(',').map((tag) => tag.trim())
  return (current) => {
    const version = entityTagOf(current)
    if (!tags.includes(version)) throw new EditConflictError(version)
  }
}

/**
 * Makes an edit on the terms of `If-Match`. Without the header nobody is refused because others edit at the same time: in the
 * end the edit is made to whatever is there, and what `noteFound` was told last may be a little older.
 * @param terms.taggedOf what the entity tags of settings are of
 * @param terms.noteFound is told what the edit changes, before anything is written; what it throws ends the edit
 */
export async function editAmongOthers<Settings extends object, Edited>(
  terms: {
    readonly request: IncomingMessage
    readonly taggedOf: (settings: Settings) => object
    readonly noteFound: (found: Settings) => void
  },
  edit: (check?: (current: Settings) => void) => Promise<Edited>,
): Promise<Edited> {
  const { taggedOf, noteFound } = terms
  const ifMatch = ifMatchOf(terms.request)
  try {
    return await edit((current) => {
      noteFound(current)
      ifMatch?.(taggedOf(current))
    })
  } catch (error) {
    if (ifMatch !== null || !(error instanceof EditConflictError)) throw error
    return edit()
  }
}

/** JSON with the names of every object in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
