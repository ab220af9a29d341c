/** Where a server is reached. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

/** Patterns of the channels on which a sentinel tells of a failover, from its first step to its end. */
export const NEWS_PATTERNS = [
  '[+]try-failover',
  '[+]failover-*',
  '[-]failover-*',
  '[+]promoted-slave',
  '[+]switch-master',
]

/** The states of a failover before the promotion: the primary may lose its role at any moment. */
const BEGINS = /^\+(?:try-failover|failover-state-(?!reconf-slaves))/

/**
 * What a message of a sentinel means for the primary called `name`: a failover `begins` or goes on, or something about
 * it has `changed`; null = the message is about another primary.
 *
 * Messages name the primary alone, as `master <name> <host> <port>`, behind one of its servers, as `slave … @ <name> <host>
 * <port>`, or, in `+switch-master`, first.
 */
export function newsAbout(name: string, channel: string, message: string): 'begins' | 'changed' | null {
  const words = message.split(' ')
  const at = words.indexOf('@')
  const about = channel === '+switch-master' ? words[0] : at === -1 ? words[1] : words[at + 1]
  if (about !== name) return null
  return BEGINS.test(channel) ? 'begins' : 'changed'
}
