import * as fc from 'fast-check'
import type { AlertType } from '../../../src/domain/alerts/alert.ts'
import { NOTIFICATION_ENTRIES_MAX } from '../../../src/domain/limits.ts'
import type { Notification } from '../../../src/ports/notifications.ts'
import { anAlert, aNotification, anEntry } from '../../support/notifications.ts'
import { anyText } from '../../support/any-text.ts'

const PIECES = [
  '<!channel>',
  '<!here|x>',
  '<@U123>',
  '<https://evil.example|click>',
  '&lt;!channel&gt;',
  '@everyone',
  '@here',
  '@\u200beveryone',
  '<@&1>',
  '<t:1:R>',
  '**bold**',
  '_under_',
  '~~gone~~',
  '`code`',
  '```block',
  '||hidden||',
  '[text](https://evil.example)',
  'https://evil.example/path',
  ':smile:',
  '1:+1:',
  '# heading',
  '> quote',
  '- item',
  '1. item',
  '\\*',
  '\\',
  '\r\nBcc: someone@example.com\r\n\r\n',
  '\u202ereversed\u2066',
  '\u0000\u001b[31m\u0085\u2028\u2029',
  '\ud800',
  '🧨',
  '"><script>alert(1)</script>',
  "'",
  '${x}',
]

/** Texts that others wrote, for their worst. */
export const nastyText = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), anyText({ maxLength: 8 })), { maxLength: 8 })
  .map((pieces) => pieces.join(''))

export const nastyNotification: fc.Arbitrary<Notification> = fc
  .record({
    texts: fc.array(fc.tuple(nastyText, nastyText, fc.boolean()), { minLength: 1, maxLength: 4 }),
    type: fc.constantFrom<AlertType>('warning', 'failure', 'recovery', 'limit_warning'),
    team: nastyText,
    moreEntries: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ texts, type, team, moreEntries }) =>
    aNotification({
      team,
      moreEntries,
      entries: texts.map(([name, message, isReply]) =>
        anEntry({
          alert: anAlert({ type, message, resource: { kind: 'queue', id: 1, name } }),
          isReply,
        }),
      ),
    }),
  )

/** Names and errors as long as they may be, of a character that grows most when it is escaped. */
export function largestNotification(character: string): Notification {
  return aNotification({
    team: 't'.repeat(63),
    moreEntries: 1_000_000,
    entries: Array.from({ length: NOTIFICATION_ENTRIES_MAX }, () =>
      anEntry({
        count: Number.MAX_SAFE_INTEGER,
        isReply: true,
        alert: anAlert({
          id: Number.MAX_SAFE_INTEGER,
          jobId: Number.MAX_SAFE_INTEGER,
          resource: { kind: 'queue', id: 1, name: character.repeat(255) },
          message: character.repeat(10_000),
        }),
      }),
    ),
  })
}

export const GROWING = ['&', '<', '*', '"', '\\', '@', '_', '漢', '🧨', 'a'] as const
