import type { ChannelState } from '../../../../clients/typescript/src/client.ts'

export type ChannelType = ChannelState['type']

const KINDS: Readonly<Record<ChannelType, string>> = {
  email: 'Email',
  slack: 'Slack',
  discord: 'Discord',
  webhook: 'Webhook',
}

const URLS: Readonly<Record<Exclude<ChannelType, 'email'>, string>> = {
  slack: 'https://hooks.slack.com/services/…',
  discord: 'https://discord.com/api/webhooks/…',
  webhook: 'https://example.com/alerts',
}

/** The settings of a team with one channel, and the Secret that it needs. */
export function channelYaml(type: ChannelType): string {
  const lines = [
    'apiVersion: punctual.dev/v1alpha1',
    'kind: TeamSettings',
    'metadata:',
    '  name: team',
    'spec:',
  ]
  if (type === 'email') lines.push('  members:', '    - { name: Ada, email: ada@example.com }')
  lines.push('  notifications:', '    channels:', `      - name: ${type}`, `        type: ${KINDS[type]}`)
  lines.push('        alertTypes: [Failure, Recovery, LimitWarning] # also: Warning')
  if (type === 'email') return lines.join('\n')
  return [
    ...lines,
    `        secretRef: { name: notifications, key: ${type} }`,
    '---',
    'apiVersion: v1',
    'kind: Secret',
    'metadata:',
    '  name: notifications',
    'stringData:',
    `  ${type}: ${URLS[type]}`,
  ].join('\n')
}
