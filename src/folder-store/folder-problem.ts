import { reasonOf } from '../domain/errors.ts'
import type { ReadResource } from '../resources/manifests/manifest-reader.ts'
import type { ManifestProblem, Resource } from '../resources/resource.ts'

/** A resource and the place in a file that describes it. */
export interface Placed<T extends Resource = Resource> extends ReadResource {
  readonly file: string
  /** When its file was made, in Unix ms. */
  readonly madeAtMs: number
  readonly resource: T
}

/** Something that is wrong in the folder. `problemText` formats it as one line. */
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
    /** Something in one resource cannot be computed or applied. What was applied of it earlier stays. */
    | 'SetAside'
    /** Nothing changes until the folder is fixed. */
    | 'FolderNotUsable'
}

/** Takes a step for one resource. A throw sets aside that resource and no other, with a problem that names it. */
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

export function setAside(placed: Placed, what: string): FolderProblem {
  const { kind, name } = placed.resource
  const reason = `${kind} ${name} ${what} What was applied earlier stays.`
  return { code: 'SetAside', ...placeOf(placed), line: null, field: null, reason }
}

/** What a problem says of where its resource stands. */
export function placeOf({
  file,
  document,
  item,
}: Placed): Pick<ManifestProblem, 'file' | 'document' | 'item'> {
  return { file, document, item }
}
