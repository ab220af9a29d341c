import { relative, resolve } from 'node:path'
import { DATA_DIR_INITIAL } from '../../settings/client-settings.ts'
import type { DataFolder } from '../../standalone/data-folder.ts'
import type { TestTime } from '../../ports/runtime.ts'
import type { OwnCommand } from './own-command.ts'

/** A line for the person at the terminal. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Says where a standalone listens, and how to push a first job. */
export function greet({
  localUrl,
  folder,
  manifests,
  isEchoOpen,
  loginPath,
  command,
  testTime,
}: {
  localUrl: string
  folder: DataFolder
  manifests: string
  isEchoOpen: boolean
  /** Path of the link that logs in; null = there is no dashboard. */
  loginPath: string | null
  command: OwnCommand
  /** The time of the test clock; null = there is none. */
  testTime: TestTime | null
}): void {
  const token = tokenWords(folder, command)
  const verb = verbCommand(command, folder.path)
  const tokenText = folder.tokenPath === null ? 'the one in PUNCTUAL_TOKEN' : folder.token
  say('')
  say(`  Punctual runs on ${localUrl}`)
  if (loginPath !== null) say(`  Dashboard  ${localUrl}${loginPath} (logs in once, within 10 minutes)`)
  say(`  Token      ${tokenText}`)
  if (testTime !== null) {
    say(`  Test clock ${new Date(testTime.nowMs).toISOString()} (moved by POST ${localUrl}/api/test/clock)`)
  }
  say(`  Resources  ${shown(manifests)} (queues, crons and team settings; changes apply within 2 s)`)
  say('')
  if (!isEchoOpen) {
    say(
      '  Jobs may call public addresses only. To call targets on this machine, such as the echo target of the',
    )
    say('  next lines, start with PUNCTUAL_EGRESS_ALLOW=127.0.0.0/8,localhost.')
    say('')
  }
  say('  Push a job from another terminal:')
  say('')
  say(`  curl ${localUrl}/api/jobs -H "Authorization: Bearer ${token}" \\`)
  say(`    -H 'Content-Type: application/json' \\`)
  say(`    -d '{"queue": "emails", "url": "${localUrl}/echo", "payload": {"to": "ada"}}'`)
  say('')
  say(
    `  Or by the command line${folder.tokenPath === null ? '' : ', which finds address and token by itself'}:`,
  )
  say('')
  say(`  ${verb} push emails ${localUrl}/echo --payload '{"to": "ada"}' --wait 30`)
  say(`  ${verb} jobs`)
  say('')
}

/** The token as a shell reads it: from its file where the terminal can. */
function tokenWords({ token, tokenPath }: DataFolder, { isInContainer }: OwnCommand): string {
  if (tokenPath === null) return '$PUNCTUAL_TOKEN'
  return isInContainer ? token : `$(cat ${shellWord(shown(tokenPath))})`
}

/** The words that run a client verb: the folder is told to it, unless it looks there anyway. */
export function verbCommand({ text, isInContainer }: OwnCommand, folderPath: string): string {
  if (isInContainer || folderPath === resolve(DATA_DIR_INITIAL)) return text
  return `PUNCTUAL_DATA_DIR=${shellWord(shown(folderPath))} ${text}`
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** As somebody in this folder would write it; in a container that is the root, where nobody is. */
function shown(path: string): string {
  const cwd = process.cwd()
  const short = relative(cwd, path)
  return short.startsWith('..') || cwd === '/' ? path : short
}
