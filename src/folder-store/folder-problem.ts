import type { ManifestProblem } from '../resources/resource.ts'

/** What is wrong in the folder; `problemText` makes one line of it. */
export interface FolderProblem extends ManifestProblem {
  readonly code:
    /** The file's last good version stays in force. */
    | 'Invalid'
    /** An older resource has the name; this one is not in force. */
    | 'NameTaken'
    /** An older ApiToken, of this team or another, has the same hash; this one is not in force. */
    | 'TokenTaken'
    /** Valid, and of a kind that this version does nothing with. */
    | 'NotRunYet'
    /** A signing secret that a TeamSettings names; the team's last good settings stay in force. */
    | 'SecretNotUsable'
    /** Nothing is changed until the folder is as it was. */
    | 'FolderNotUsable'
}
