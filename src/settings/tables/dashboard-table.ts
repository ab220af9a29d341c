import { oneOf, optional, type Parser } from '../parsers.ts'
import { setting, type SettingValues } from '../setting.ts'

const BASE_PATH = /^(?:\/[a-z\d][\w.~-]*){1,8}\/?$/i
const BASE_PATH_CHARACTERS_MAX = 200
/** Below the root these stand for something: nobody could tell whether a proxy has taken the base path away. */
const TAKEN = /^\/(?:api|assets|echo)(?:\/|$)/

const parseBasePath: Parser<string> = (text) => {
  const isGood = BASE_PATH.test(text) && text.length <= BASE_PATH_CHARACTERS_MAX && !TAKEN.test(text)
  if (text === '/' || isGood) return { ok: true, value: text.replace(/\/$/, '') }
  return { ok: false, allowed: 'a path such as /punctual, that does not begin with /api, /assets or /echo' }
}

const SERVING = ['standalone', 'api'] as const

/** Settings of the dashboard's place. */
export const DASHBOARD_SETTINGS = Object.freeze({
  dashboard: setting({
    roles: SERVING,
    variable: 'PUNCTUAL_DASHBOARD',
    placeholder: 'on or off',
    help: 'whether the port of the API also serves the dashboard',
    initial: 'on',
    parse: oneOf(['on', 'off']),
  }),
  basePath: setting({
    roles: SERVING,
    variable: 'PUNCTUAL_BASE_PATH',
    placeholder: 'path',
    help: 'path under which a proxy shows the dashboard and the API, such as /punctual',
    initial: null,
    initialText: 'that of the public URL',
    parse: optional(parseBasePath),
  }),
})

type Given = Pick<SettingValues<typeof DASHBOARD_SETTINGS>, 'basePath'> & {
  readonly publicUrl: string | null
}

/** '' = the root. */
export function basePathOf({ basePath, publicUrl }: Given): string {
  return basePath ?? pathIn(publicUrl)
}

export function basePathMistakes({ basePath, publicUrl }: Given): readonly string[] {
  const path = pathIn(publicUrl)
  const parsed = parseBasePath(path === '' ? '/' : path)
  if (!parsed.ok) return [`PUNCTUAL_PUBLIC_URL ends with "${path}"; allowed: ${parsed.allowed}.`]
  if (basePath === null || publicUrl === null || basePath === path) return []
  return [
    `PUNCTUAL_BASE_PATH is "${basePath}", but PUNCTUAL_PUBLIC_URL ends with "${path}": they must name the same path.`,
  ]
}

function pathIn(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
}
