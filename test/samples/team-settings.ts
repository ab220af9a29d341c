import type { GivenInvalidSample, GivenSample, KindSamples } from './sample.ts'

const NAMED_TEAM = 'a namespace has one TeamSettings, and it is named team'
const NOT_A_BLOCK =
  'must be a CIDR block such as 10.0.0.0/8: a complete address, no bits set after the prefix'
const NEITHER =
  'must be a CIDR block such as 10.0.0.0/8 or a host suffix such as example.com, with a port such as :443 if need be, or a host suffix at fixed addresses such as example.com=203.0.113.0/24'

const LABEL = 'x'.repeat(63)

export const EGRESS_ENTRIES = [
  '10.0.0.0/8',
  '0.0.0.0/0',
  '10.1.2.3/32',
  '10.1.2.3',
  '::/0',
  'fd00::/8',
  '2001:db8::1/128',
  'FD00::1',
  'svc.cluster.local',
  '.svc.cluster.local',
  'Example.COM.',
  'localhost',
  '_srv.a-b.c1',
  '1.2.3.4a',
  `${LABEL}.test`,
  'a.test:443',
  'a.test:65535',
  '10.0.0.0/8:1',
  '10.1.2.3:8080',
  'fd00::/8:443',
  'fd00::7/128:443',
  'partner.example=203.0.113.0/24',
  'partner.example=203.0.113.0/24:443',
  '.Partner.example.=203.0.113.7:443',
  'be.test=fd00::/8:443',
]

const EGRESS_ENTRIES_REFUSED: ReadonlyArray<readonly [string, string]> = [
  ['10.0.0.1/8', NOT_A_BLOCK],
  ['10.0.0.0/33', NOT_A_BLOCK],
  ['10.0.0.0/08', NOT_A_BLOCK],
  ['10.0.0/8', NOT_A_BLOCK],
  ['10.0.0.0/', NOT_A_BLOCK],
  ['10.0.0.0/8/8', NEITHER],
  ['fd00::1/8', NOT_A_BLOCK],
  ['::/129', NOT_A_BLOCK],
  ['::ffff:10.0.0.0/104', NOT_A_BLOCK],
  ['a.test/8', NOT_A_BLOCK],
  ['http://a.test', NOT_A_BLOCK],
  ['', NEITHER],
  ['.', NEITHER],
  ['a..b', NEITHER],
  ['-a.test', NEITHER],
  ['a-.test', NEITHER],
  ['*.test', NEITHER],
  ['a test', NEITHER],
  ['ä.test', NEITHER],
  ['a.test:0', NEITHER],
  ['a.test:080', NEITHER],
  ['a.test:65536', NEITHER],
  ['a.test:http', NEITHER],
  ['a.test:80:80', NEITHER],
  ['10.1.2.3:0', NEITHER],
  ['10.0.0.0/8:0', NEITHER],
  ['[fd00::7]:443', NEITHER],
  ['a.test=', NEITHER],
  ['a.test=b.test', NEITHER],
  ['a.test=fd00::7', NEITHER],
  ['a.test:443=10.0.0.0/8', NEITHER],
  ['=10.0.0.0/8', NEITHER],
  ['1.2=10.0.0.0/8', NEITHER],
  ['a.test=10.0.0.1/8', NOT_A_BLOCK],
  ['10.0.0.1/8:443', NOT_A_BLOCK],
  ['10.0.0', NEITHER],
  ['10.0.0.256', NEITHER],
  ['010.0.0.1', NEITHER],
  ['fe80::1%eth0', NEITHER],
  ['::ffff:10.0.0.1', NEITHER],
  [`${LABEL}x.test`, NEITHER],
]

const allowing = (entry: string): GivenSample => ({
  title: `egress ${JSON.stringify(entry)}`,
  spec: { egress: { allow: [entry] } },
})

const signing = (...secretRefs: readonly object[]) => ({ signing: { secretRefs } })

export const HEADER_HOSTS = [
  'api.example.com',
  'localhost',
  '*.example.com',
  '*.example.com:8443',
  'api.example.com:1',
  '_srv.a-b.c1:65535',
  '10.1.2.3',
  '10.1.2.3:8080',
  '[fd00::7]',
  '[fd00::7]:8080',
]
export const HEADER_HOSTS_REFUSED = [
  '',
  '*',
  '*.',
  'a.*.test',
  '**.test',
  'A.test',
  'a.test.',
  '.a.test',
  'a..test',
  '-a.test',
  'https://a.test',
  'a.test/path',
  'user@a.test',
  'a.test:0',
  'a.test:65536',
  'a.test:',
  '*.10.1.2.3',
  '10.1.2',
  '10.1.2.256',
  '010.1.2.3',
  'fd00::7',
  '10.0.0.0/8',
  'a.test,b.test',
  'ä.test',
]
const NOT_A_HOST =
  'must be a host in lower case such as api.example.com, *.example.com for those below it, or an address, with a port such as :8443 if need be'
const withHeaderSecret = (...hosts: readonly string[]) => ({
  headerSecrets: [{ name: 'partner', secretKeyRef: { name: 'partner', key: 'token' }, hosts }],
})

const SLACK = { name: 'slack', key: 'url' }
const notifying = (...channels: readonly object[]) => ({ notifications: { channels } })

const ADDRESSES = ['a@b', 'first.last+tag@mail.example.com', "o'brien@a.test", `${'x'.repeat(64)}@a-b.c1`]
const ADDRESSES_REFUSED = [
  '',
  'a',
  '@a.test',
  'a@',
  'a@b@c',
  'a b@a.test',
  'a@a.test\nBcc: b@b.test',
  'a@a.test\r',
  '<a@a.test>',
  'Ada <a@a.test>',
  'a@a.test, b@a.test',
  '"a"@a.test',
  'a@-a.test',
  'a@a..test',
  'ä@a.test',
  '.a@a.test',
  'a..b@a.test',
]
const mailing = (email: string) => ({
  title: `a member at ${JSON.stringify(email)}`,
  spec: { members: [{ name: 'Ada', email }] },
})

export const TEAM_SETTINGS: KindSamples = {
  kind: 'TeamSettings',
  crd: 'teamsettings.punctual.dev.yaml',
  name: 'team',
  full: [
    {
      egress: { allow: ['a.test'] },
      quotas: {
        pendingJobs: 1,
        storedBytes: 1,
        queues: 1,
        crons: 1,
        callsInFlight: 1,
        jobsPerMonth: 1,
      },
      ...signing({ name: 'signing', key: 'current' }),
      ...withHeaderSecret('a.test'),
      maskedHeaders: ['X-Customer'],
      appliedResources: 'ReadOnly',
      members: [{ name: 'Ada', email: 'ada@a.test' }],
      ...notifying({ name: 'ops', type: 'Slack', alertTypes: ['Warning'], secretRef: SLACK }),
    },
  ],
  padding: {
    'spec.egress.allow[]': '.x',
    'spec.headerSecrets[].hosts[]': '.x',
    'spec.members[].email': '.x',
  },
  deciding: ['spec.notifications.channels[].type'],
  valid: [
    { title: 'nothing but defaults', spec: {} },
    { title: 'empty halves', spec: { egress: {}, signing: {}, quotas: {} } },
    { title: 'one secret twice', spec: signing({ name: 's', key: 'k' }, { name: 's', key: 'k' }) },
    { title: 'every sign of a key', spec: signing({ name: 'a.b-c', key: '-._aZ9' }) },
    ...EGRESS_ENTRIES.map(allowing),
    { title: 'a channel of nothing but its type', spec: notifying({ name: 'a', type: 'Email' }) },
    {
      title: 'several channels on one secret',
      spec: notifying(
        { name: 'a', type: 'Slack', secretRef: SLACK },
        { name: 'b', type: 'Discord', secretRef: SLACK },
        { name: 'c', type: 'Webhook', secretRef: SLACK, alertTypes: ['Warning', 'LimitWarning'] },
      ),
    },
    ...HEADER_HOSTS.map((host) => ({ title: `a host ${host}`, spec: withHeaderSecret(host) })),
    { title: 'empty notifications', spec: { notifications: {} } },
    ...ADDRESSES.map((email) => mailing(email)),
  ],
  invalid: [
    { title: 'another name', name: 'teams', spec: {}, field: 'metadata.name', rule: NAMED_TEAM },
    { title: 'one entry twice', spec: { egress: { allow: ['a', 'b', 'a'] } }, field: 'spec.egress.allow[2]' },
    {
      title: 'a secret of another namespace',
      spec: signing({ name: 's', key: 'k', namespace: 'n' }),
      field: 'spec.signing.secretRefs[0].namespace',
    },
    {
      title: 'a name in capitals',
      spec: signing({ name: 'S', key: 'k' }),
      field: 'spec.signing.secretRefs[0].name',
    },
    {
      title: 'an empty name',
      spec: signing({ name: '', key: 'k' }),
      field: 'spec.signing.secretRefs[0].name',
    },
    {
      title: 'a name with an end',
      spec: signing({ name: 's-', key: 'k' }),
      field: 'spec.signing.secretRefs[0].name',
    },
    {
      title: 'a key with a slash',
      spec: signing({ name: 's', key: 'a/b' }),
      field: 'spec.signing.secretRefs[0].key',
    },
    ...HEADER_HOSTS_REFUSED.map((host) => ({
      title: `a host ${JSON.stringify(host)}`,
      spec: withHeaderSecret(host),
      field: 'spec.headerSecrets[0].hosts[0]',
      rule: NOT_A_HOST,
    })),
    ...['', 'X Customer', 'X:Customer', 'é'].map((name) => ({
      title: `a masked header ${JSON.stringify(name)}`,
      spec: { maskedHeaders: [name] },
      field: 'spec.maskedHeaders[0]',
    })),
    {
      title: 'a masked header twice',
      spec: { maskedHeaders: ['X-Customer', 'X-Customer'] },
      field: 'spec.maskedHeaders[1]',
    },
    {
      title: 'a header secret for no host',
      spec: withHeaderSecret(),
      field: 'spec.headerSecrets[0].hosts',
    },
    {
      title: 'a header secret without hosts',
      spec: { headerSecrets: [{ name: 'partner', secretKeyRef: { name: 'partner', key: 'token' } }] },
      field: 'spec.headerSecrets[0].hosts',
    },
    {
      title: 'one header secret twice',
      spec: {
        headerSecrets: [
          ...withHeaderSecret('a.test').headerSecrets,
          ...withHeaderSecret('b.test').headerSecrets,
        ],
      },
      field: 'spec.headerSecrets[1]',
    },
    { title: 'an empty key', spec: signing({ name: 's', key: '' }), field: 'spec.signing.secretRefs[0].key' },
    {
      title: 'a chat channel without a secret',
      spec: notifying({ name: 'a', type: 'Email' }, { name: 'b', type: 'Slack' }),
      field: 'spec.notifications.channels[1].secretRef',
      rule: 'is required: the Secret that holds the URL',
    },
    {
      title: 'e-mail with a secret',
      spec: notifying({ name: 'a', type: 'Email', secretRef: SLACK }),
      field: 'spec.notifications.channels[0].secretRef',
      rule: 'cannot be given for Email, which goes to spec.members by the mail server of the installation',
    },
    {
      title: 'two channels of one name',
      spec: notifying({ name: 'a', type: 'Email' }, { name: 'a', type: 'Email' }),
      field: 'spec.notifications.channels[1]',
    },
    ...['A', 'a-', '-a', 'a.b', ''].map((name) => ({
      title: `a channel called ${JSON.stringify(name)}`,
      spec: notifying({ name, type: 'Email' }),
      field: 'spec.notifications.channels[0].name',
    })),
    {
      title: 'one address twice',
      spec: { members: [...mailing('a@a.test').spec.members, ...mailing('a@a.test').spec.members] },
      field: 'spec.members[1]',
    },
    {
      ...mailing(`${'x'.repeat(65)}@a.test`),
      field: 'spec.members[0].email',
      rule: 'must have at most 64 characters before the @',
    },
    ...ADDRESSES_REFUSED.map((email) => ({ ...mailing(email), field: 'spec.members[0].email' })),
    ...['a\nb', '<a>', 'a"b', 'a\\b', ''].map((name) => ({
      title: `a member called ${JSON.stringify(name)}`,
      spec: { members: [{ name, email: 'a@a.test' }] },
      field: 'spec.members[0].name',
    })),
    ...EGRESS_ENTRIES_REFUSED.map(([entry, rule]): GivenInvalidSample => ({
      ...allowing(entry),
      field: 'spec.egress.allow[0]',
      rule,
    })),
  ],
}
