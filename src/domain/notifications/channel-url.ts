import { egressTargetOf, opensAddress, opensName, parseEgressList } from '../net/egress-list.ts'
import { isCallableHost } from '../net/host-name.ts'
import { literalOf } from '../net/ip-address.ts'
import { URL_CHARACTERS_MAX } from '../limits.ts'
import type { ChannelType } from './channel.ts'

/** A chat service, and the form of its web hooks. */
interface ChatService {
  readonly name: string
  readonly hosts: readonly string[]
  /** Paths of its web hooks that take our messages; others of the same host take something else. */
  readonly path: RegExp
  readonly pathText: string
}

const CHAT_SERVICES: Readonly<Record<'slack' | 'discord', ChatService>> = {
  slack: {
    name: 'Slack',
    hosts: ['hooks.slack.com', 'hooks.slack-gov.com'],
    path: /^\/services\/[^/]/,
    pathText: '/services/',
  },
  discord: {
    name: 'Discord',
    hosts: ['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com'],
    path: /^\/api\/(v[0-9]+\/)?webhooks\/[0-9]+\/[^/]+\/?$/,
    pathText: '/api/webhooks/<id>/<token>',
  },
}

/**
 * Why a channel of this type cannot have this URL, as a sentence; null if it can. The sentence contains no part of the
 * URL, because the URL is a secret. Whether the egress policy lets us call it is another question.
 * @param egressAllow the team's list: a host that it names may speak for a chat service, as Mattermost does for Slack
 */
export function channelUrlProblem(
  type: Exclude<ChannelType, 'email'>,
  text: string,
  egressAllow: readonly string[],
): string | null {
  // Parsers drop white space and control characters, which a Secret made by `echo` ends with: another URL than meant.
  const url =
    text.length <= URL_CHARACTERS_MAX && !/[\s\p{Cc}]/u.test(text) && /^https?:\/\//i.test(text)
      ? URL.parse(text)
      : null
  if (url === null) {
    return `The URL must begin with https:// or http://, be valid, without line breaks and spaces, and have at most ${URL_CHARACTERS_MAX} characters.`
  }
  if (url.username !== '' || url.password !== '') return 'The URL must not hold a user name or password.'
  if (!isCallableHost(url.hostname)) return 'The URL has no valid host.'
  if (url.port === '0') return 'The URL must not have port 0.'
  if (type === 'webhook') return null
  return chatUrlProblem(CHAT_SERVICES[type], url, egressAllow)
}

function chatUrlProblem(service: ChatService, url: URL, egressAllow: readonly string[]): string | null {
  const name = url.hostname.replace(/\.$/, '')
  if (!service.hosts.includes(name)) {
    return isHostOpened(url, egressAllow)
      ? null
      : `The URL must be one of ${service.name} (${service.hosts.join(', ')}), or of a host that spec.egress.allow names.`
  }
  if (url.protocol !== 'https:') return `A URL of ${service.name} must begin with https://.`
  if (!service.path.test(url.pathname)) {
    return `The path of a URL of ${service.name} must be that of an incoming webhook: ${service.pathText}.`
  }
  return null
}

/** Whether a team's list names the host of a URL. */
export function isHostOpened(url: URL, egressAllow: readonly string[]): boolean {
  const list = parseEgressList(egressAllow)
  const literal = literalOf(url.hostname)
  const target = egressTargetOf(url, literal)
  return literal === null ? opensName(list, target) : opensAddress(list, target, literal)
}
