import { useLocation } from 'preact-iso'
import { useMe } from '../../session/me.ts'
import type { Choice } from '../../ui/overlays/picker.tsx'
import { at } from '../../routing/paths.ts'

/** A deed that a form or a list of its own is for. */
interface Deed extends Pick<Choice, 'label' | 'icon' | 'words'> {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
}

const SEEN: readonly Deed[] = [
  deed('Failed jobs', 'jobs', '/jobs', { status: 'failed' }, 'errors failures'),
  deed('Jobs in flight', 'jobs', '/jobs', { status: 'processing' }, 'running now processing'),
  deed('Jobs that wait', 'jobs', '/jobs', { status: 'pending' }, 'pending ready delayed backlog'),
  deed('Failing crons', 'cron', '/crons', { state: 'failing' }, 'errors'),
  deed('Paused crons', 'cron', '/crons', { state: 'paused' }, 'stopped'),
  deed('Queues in trouble', 'queue', '/queues', {}, 'late failing backlog'),
  deed('Roles of people', 'user', '/access', { tab: 'roles' }, 'permissions rights'),
  deed('Sessions', 'user', '/access', { tab: 'sessions' }, 'logins log out everywhere'),
]

const OPERATED: readonly Deed[] = [
  deed('Replay dead letters …', 'retry', '/dead-letters', {}, 'retry mend again'),
  deed('Purge dead letters …', 'trash', '/dead-letters', {}, 'delete remove'),
  deed('Retry failed jobs …', 'retry', '/jobs', { status: 'failed' }, 'again'),
  deed('Mute alerts …', 'window', '/maintenance', { new: 'mute' }, 'silence maintenance window snooze'),
  deed('Hold jobs …', 'pause', '/maintenance', { new: 'hold' }, 'stop freeze maintenance window'),
  deed('New maintenance window …', 'window', '/maintenance', { new: 'mute' }, 'make create'),
  deed('Test the channels of notifications …', 'send', '/notifications', {}, 'mail slack discord webhook'),
]

const ADMINISTERED: readonly Deed[] = [
  deed('Make a token …', 'key', '/access', { tab: 'tokens', new: 'token' }, 'new create api key'),
  deed('Revoke a token …', 'key', '/access', { tab: 'tokens' }, 'delete remove api key'),
  deed(
    'Add a channel …',
    'plus',
    '/notifications',
    { new: 'channel' },
    'make create slack discord webhook mail',
  ),
]

const OF_SECRETS: readonly Deed[] = [
  deed(
    'Rotate the signing secret …',
    'retry',
    '/access',
    { tab: 'secrets', new: 'secret' },
    'make new create signature webhook',
  ),
  deed('Signing secrets', 'key', '/access', { tab: 'secrets' }, 'signature webhook verify'),
]

const EDITED = [
  deed('New queue …', 'plus', '/queues/new', {}, 'make create'),
  deed('New cron …', 'plus', '/crons/new', {}, 'make create schedule'),
]
const PUSHED = [deed('Send a job', 'send', '/send', {}, 'push new request')]

function deed(
  label: string,
  icon: NonNullable<Choice['icon']>,
  path: string,
  query: Readonly<Record<string, string>>,
  words: string,
): Deed {
  return { label, icon, path, query, words }
}

/** What can be done, or looked for, on the screens, as far as the login may. */
export function useDeedCommands(): readonly Choice[] {
  const { route } = useLocation()
  const { may, queues } = useMe()
  const deeds = [
    ...(may.push ? PUSHED : []),
    ...(may.read ? SEEN : []),
    ...(may.read && may.operate ? OPERATED : []),
    ...(may.read && may.edit ? EDITED : []),
    ...(may.admin ? ADMINISTERED : []),
    ...(may.admin && queues === null ? OF_SECRETS : []),
  ]
  return deeds.map(({ path, query, ...rest }): Choice => {
    return { ...rest, key: rest.label, run: () => route(at(path, query)) }
  })
}
