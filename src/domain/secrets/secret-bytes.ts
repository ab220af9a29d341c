import { SECRET_BYTES_PER_OWNER_MAX, SECRET_BYTES_PER_TEAM_MAX } from '../limits.ts'

/** Why secrets are not stored, as a sentence: those of this queue or cron, or of all of the team. */
export function tooManyBytesText(of: 'owner' | 'team'): string {
  return of === 'owner'
    ? `The values that it takes from Secrets have more than ${SECRET_BYTES_PER_OWNER_MAX} bytes.`
    : `The values that the team’s queues and crons take from Secrets need more than ${SECRET_BYTES_PER_TEAM_MAX} bytes as they are stored, sealed: take fewer or shorter ones.`
}
