import type { AlertType } from '../../domain/alerts/alert.ts'
import { largestFitting, linesOf, moreText, type Message, type MessageEntry } from './message.ts'
import { escapedExcerpt } from './printable.ts'

/** Discord refuses more than 256. */
const TITLE_CHARACTERS_MAX = 250
/** Discord refuses more than 4,096, and more than 6,000 over all embeds of a message. */
const DESCRIPTION_CHARACTERS_MAX = 4_000
const LINE_CHARACTERS_MAX = 1_200

const COLORS: Readonly<Record<AlertType, number>> = {
  failure: 0xd9_2d_20,
  warning: 0xf7_90_09,
  limit_warning: 0xf7_90_09,
  recovery: 0x17_b2_6a,
}
const TEST_COLOR = 0x66_70_85

/** The body for a webhook of Discord: one embed, which can mention nobody. */
export function discordMessage(message: Message): string {
  const description = largestFitting(
    { entries: message.entries.map(entryText), more: message.more },
    (texts, more) => (more === 0 ? texts : [...texts, moreText(more)]).join('\n\n'),
    (text) => text.length <= DESCRIPTION_CHARACTERS_MAX,
  )
  return JSON.stringify({
    embeds: [
      {
        title: escapedExcerpt(message.title, TITLE_CHARACTERS_MAX, escapeMarkup),
        description,
        color: message.type === null ? TEST_COLOR : COLORS[message.type],
      },
    ],
    allowed_mentions: { parse: [] },
  })
}

function entryText(entry: MessageEntry): string {
  const lines = linesOf(entry).map((line) => escapedExcerpt(line, LINE_CHARACTERS_MAX, escapeMarkup))
  return (entry.heading === '' ? lines : [`**${lines[0]}**`, ...lines.slice(1)]).join('\n')
}

/**
 * A backslash takes the meaning of any character that is no letter or digit; a mention also looks for its name. Only what
 * has a meaning is escaped, because some notifications show the backslash.
 */
function escapeMarkup(text: string): string {
  return (
    text
      .replace(/[\\*_~`|<[\]]/g, '\\$&')
      .replace(/@/g, '@\u200b')
      // Not in 10:20:30.
      .replace(/:(?=\/\/)|(?<![0-9]):(?=[\w+-]+:)|:(?=[a-z_+-][\w+-]*:)/gi, '\\:')
      .replace(/^([-+>#]|[0-9]+[.)])/, (marker) => `${marker.slice(0, -1)}\\${marker.slice(-1)}`)
  )
}
