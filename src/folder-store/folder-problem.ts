import type { ManifestProblem } from '../resources/resource.ts'

/** What is wrong in the folder; `problemText` makes one line of it. */
export interface FolderProblem extends ManifestProblem {
  readonly code:
    /** The file's last good version stays in force. */
    | 'Invalid'
    /** An older resource has the name; this one is not in force. */
    | 'NameTaken'
    /** A signing secret that a TeamSettings names; the team's last good settings stay in force. */
    | 'SecretNotUsable'
    /** Nothing is changed until the folder is as it was. */
    | 'FolderNotUsable'
}
