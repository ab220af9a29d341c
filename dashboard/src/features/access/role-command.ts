import { quoted } from '../../format/curl.ts'

export const ROLES = ['viewer', 'operator', 'editor', 'admin'] as const
export type Role = (typeof ROLES)[number]
export const SUBJECTS = ['user', 'group', 'serviceaccount'] as const
export type Subject = (typeof SUBJECTS)[number]

/** What gives a role in a team to somebody of the cluster. The chart names its roles after its namespace and release. */
export function roleCommand(given: {
  readonly team: string
  readonly role: Role
  readonly subject: Subject
  readonly name: string
}): string {
  const { team, role, subject } = given
  const name = given.name.trim() || EXAMPLES[subject]
  // The name of a service account is that of its namespace and its own.
  const whole = subject === 'serviceaccount' && !name.includes(':') ? `${team}:${name}` : name
  return [
    `kubectl -n ${team} create rolebinding ${bindingName(whole, role)}`,
    `--clusterrole=punctual-punctual-${role}`,
    `--${subject}=${/^[\w@.:-]+$/.test(whole) ? whole : quoted(whole)}`,
  ].join(' \\\n  ')
}

export const EXAMPLES: Readonly<Record<Subject, string>> = {
  user: 'ann@example.com',
  group: 'on-call',
  serviceaccount: 'reporter',
}

function bindingName(name: string, role: Role): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return `punctual-${role}-${plain.slice(0, 40)}`.replace(/-+$/, '')
}
