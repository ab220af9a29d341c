import { largestFitting, linesOf, moreText, type Message, type MessageEntry } from './message.ts'
import { escapedExcerpt } from './printable.ts'

/** Slack refuses more than 150. */
const HEADER_CHARACTERS_MAX = 140
/** Slack refuses more than 3,000. */
const SECTION_CHARACTERS_MAX = 2_500
const LINE_CHARACTERS_MAX = 800
/** Slack refuses somewhat over 13,000 in all (`msg_blocks_too_long`), below what it documents. */
const BODY_BYTES_MAX = 12_000
const FALLBACK_CHARACTERS_MAX = 1_500

interface PlainText {
  readonly type: 'plain_text'
  readonly text: string
  readonly emoji: false
}

interface Block {
  readonly type: 'header' | 'section'
  readonly text: PlainText
}

/** Characters that would format or mention, and ones that look alike: Slack has no way to escape them. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '*': '∗',
  '`': 'ˋ',
  '~': '∼',
  '@': '＠',
  '#': '＃',
  '[': '［',
  ']': '］',
  '|': '｜',
  '\\': '＼',
}

/** An entry, escaped for both places that it stands in. */
interface SlackEntry {
  readonly section: Block
  readonly fallback: readonly string[]
}

/** The body for an incoming webhook of Slack. Texts are `plain_text`, in which Slack looks for no markup. */
export function slackMessage({ title, entries, more }: Message): string {
  const header: Block = {
    type: 'header',
    text: plain(escapedExcerpt(title, HEADER_CHARACTERS_MAX, escapeEntities)),
  }
  const fallbackTitle = fallbackLine(title)
  const escaped = entries.map((entry): SlackEntry => ({
    section: { type: 'section', text: plain(sectionText(entry)) },
    fallback: linesOf(entry).map(fallbackLine),
  }))
  return largestFitting(
    { entries: escaped, more },
    (shown, left) =>
      JSON.stringify({
        text: fallbackText([fallbackTitle, ...shown.flatMap(({ fallback }) => fallback)], left),
        mrkdwn: false,
        blocks: [
          header,
          ...shown.map(({ section }) => section),
          ...(left === 0 ? [] : [{ type: 'context', elements: [plain(moreText(left))] }]),
        ],
      }),
    (body) => Buffer.byteLength(body) <= BODY_BYTES_MAX,
  )
}

function sectionText(entry: MessageEntry): string {
  const lines: string[] = []
  let room = SECTION_CHARACTERS_MAX
  for (const line of linesOf(entry)) {
    const escaped = escapedExcerpt(line, LINE_CHARACTERS_MAX, escapeEntities)
    room -= escaped.length + 1
    if (room < 0) break
    lines.push(escaped)
  }
  return lines.join('\n')
}

function plain(text: string): PlainText {
  return { type: 'plain_text', text, emoji: false }
}

/** Slack decodes these three entities, and no others, in every kind of text. */
function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Text for the notification of a phone, and for services that know no blocks. These read markup in it. */
function fallbackText(lines: readonly string[], more: number): string {
  const shown: string[] = []
  let room = FALLBACK_CHARACTERS_MAX
  for (const line of lines) {
    room -= line.length + 1
    if (room < 0) return [...shown, '…'].join('\n')
    shown.push(line)
  }
  return (more === 0 ? shown : [...shown, moreText(more)]).join('\n')
}

function fallbackLine(line: string): string {
  return escapedExcerpt(line, FALLBACK_CHARACTERS_MAX / 2, escapeMarkup)
}

function escapeMarkup(text: string): string {
  const inert = text
    .replace(/[*`~@#[\]|\\]/g, (character) => LOOKALIKES[character] ?? character)
    // Within a word these two mean nothing.
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '＿')
    .replace(/:(?=\/\/)|(?<![\p{L}\p{N}]):(?=\S)/gu, '：')
    .replace(/^([-+>=!]|[0-9]+[.)])/, '\u2060$1')
  return escapeEntities(inert)
}
