import { excerpt } from '../domain/excerpt.ts'
import type { Parser } from './parsers.ts'

const SHOWN_CHARACTERS_MAX = 80

/** The process's variables, or a test's. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Flags of the command line, by the setting's key; a switch is `true`. */
export type GivenFlags = Readonly<Record<string, string | boolean | undefined>>

/** The roles that run until they are stopped, in the order of the help. */
export const PROCESSES = ['standalone', 'controller', 'api', 'executor'] as const
/** All commands that take settings; those after the processes do their work once and end. */
export const ROLE_NAMES = [...PROCESSES, 'doctor', 'backup', 'restore', 'prepare', 'uninstall'] as const
export type RoleName = (typeof ROLE_NAMES)[number]

/** One thing that can be set, by a variable or by the flag of the same words. */
export interface Setting<T, Roles extends readonly RoleName[] = readonly RoleName[]> {
  /** Roles that take the setting. */
  readonly roles: Roles
  /** `PUNCTUAL_DATA_DIR`; its flag is `--data-dir`. */
  readonly variable: `PUNCTUAL_${string}`
  /** Shown after the flag in the help; null for a switch. */
  readonly placeholder: string | null
  readonly help: string
  /** The value when nothing is given, and its text in the help. */
  readonly initial: T
  readonly initialText: string
  /** Messages never repeat its text. */
  readonly isSecret: boolean
  /** Spaces around its text are part of it. */
  readonly isVerbatim: boolean
  readonly parse: Parser<T>
}

/** A setting of any type, as flags and help need it. */
export type AnySetting = Setting<unknown>

/** The values of a table of settings. */
export type SettingValues<Table extends Readonly<Record<string, AnySetting>>> = {
  readonly [Key in keyof Table]: Table[Key] extends Setting<infer T> ? T : never
}

/**
 * Declares a setting. Unless declared otherwise it is neither secret nor verbatim, and its initial text is its value.
 */
export function setting<T, const Roles extends readonly RoleName[]>(
  declared: Pick<Setting<T, Roles>, 'variable' | 'placeholder' | 'help' | 'parse' | 'roles'> & {
    readonly initial: NoInfer<T>
  } & Partial<Pick<Setting<T>, 'initialText' | 'isSecret' | 'isVerbatim'>>,
): Setting<T, Roles> {
  const usual = { initialText: String(declared.initial), isSecret: false, isVerbatim: false }
  return Object.freeze({ ...usual, ...declared })
}

/** `PUNCTUAL_DATA_DIR` → `--data-dir`. */
export function flagOf(setting: AnySetting): string {
  return `--${setting.variable.slice('PUNCTUAL_'.length).toLowerCase().replaceAll('_', '-')}`
}

/** A setting with a mistake has its initial value. */
export interface ReadSettings<Table extends Readonly<Record<string, AnySetting>>> {
  readonly values: SettingValues<Table>
  readonly mistakes: readonly string[]
}

/**
 * Reads every setting of the table: the flag when given, else the variable, else the initial value. An empty
 * variable counts as not set, because compose files leave them so; an empty flag is a mistake.
 */
export function readSettings<const Table extends Readonly<Record<string, AnySetting>>>(
  table: Table,
  env: Environment,
  flags: GivenFlags,
): ReadSettings<Table> {
  const mistakes: string[] = []
  const entries = Object.entries(table).map(([key, setting]) => {
    const given = textOf(setting, env[setting.variable], flags[key])
    if (given === null) return [key, setting.initial] as const
    const parsed = setting.parse(given.text)
    if (parsed.ok) return [key, parsed.value] as const
    mistakes.push(mistakeText(setting, given, parsed.allowed))
    return [key, setting.initial] as const
  })
  return { values: Object.fromEntries(entries) as SettingValues<Table>, mistakes }
}

interface GivenText {
  readonly source: string
  readonly text: string
}

function textOf(
  setting: AnySetting,
  variable: string | undefined,
  flag: string | boolean | undefined,
): GivenText | null {
  const bare = (text: string) => (setting.isVerbatim ? text : text.trim())
  if (flag !== undefined) return { source: flagOf(setting), text: bare(String(flag)) }
  const text = bare(variable ?? '')
  return text === '' ? null : { source: setting.variable, text }
}

function mistakeText(setting: AnySetting, given: GivenText, allowed: string): string {
  const shown = setting.isSecret
    ? 'has a value that'
    : `is ${JSON.stringify(excerpt(given.text, SHOWN_CHARACTERS_MAX))}, which`
  const hint = SERVICE_LINK.test(given.text)
    ? ' Kubernetes sets this variable for a Service of that name: set enableServiceLinks: false on the pod.'
    : ''
  return `${given.source} ${shown} is not allowed: it must be ${allowed}.${hint}`
}

/** Kubernetes sets such variables in pods, named after Services: `tcp://10.0.0.1:80`. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//
