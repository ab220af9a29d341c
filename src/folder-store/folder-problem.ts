import { reasonOf } from '../domain/errors.ts'
import type { ManifestProblem, Resource } from '../resources/resource.ts'

/** A resource and where it is written. */
export interface Placed<T extends Resource = Resource> {
  readonly file: string
  readonly document: number
  readonly resource: T
}

/** What is wrong in the folder; `problemText` formats it as one line. */
export interface FolderProblem extends ManifestProblem {
  readonly code:
    /** The file's last good version stays applied. */
    | 'Invalid'
    /** An older resource has the name; this one is not applied. */
    | 'NameTaken'
    /** An older ApiToken, of any team, has the same hash; this one is not applied. */
    | 'TokenTaken'
    /** The team has as many older maintenance windows as it may have; this one is not applied. */
    | 'TooManyWindows'
    /** A TeamSettings names a signing secret that is missing or invalid; the team's last good settings stay applied. */
    | 'SecretNotUsable'
    /** The URL of a channel is missing or not allowed; the team's other channels are applied. */
    | 'ChannelNotUsable'
    /** A cron calls what its team may not; its last good settings stay applied. */
    | 'TargetBlocked'
    /** An assertion can never hold; the resource is applied all the same. */
    | 'NeverSucceeds'
    /** What one resource says cannot be computed or applied; what was applied of it earlier stays. */
    | 'SetAside'
    /** Nothing changes until the folder is fixed. */
    | 'FolderNotUsable'
}

/** Takes a step for one resource. What throws sets that resource aside, with a problem that names it, and no other. */
export function orSetAside<T>(
  placed: Placed,
  { problems, otherwise }: { readonly problems: FolderProblem[]; readonly otherwise: T },
  step: () => T,
): T {
  try {
    return step()
  } catch (error) {
    problems.push(setAside(placed, `cannot be evaluated: ${reasonOf(error)}.`))
    return otherwise
  }
}

export function setAside({ file, document, resource }: Placed, what: string): FolderProblem {
  const reason = `${resource.kind} ${resource.name} ${what} What was applied earlier stays.`
  return { code: 'SetAside', file, document, line: null, field: null, reason }
}
