import type { ManifestProblem } from '../resources/resource.ts'

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
    /** Nothing changes until the folder is fixed. */
    | 'FolderNotUsable'
}
