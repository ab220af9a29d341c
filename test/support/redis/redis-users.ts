/** The users of Redis that docs/install.md gives to each role. */
import { readFileSync } from 'node:fs'

export const PASSWORDS = { controller: 'first', api: 'second', executor: 'third' } as const
export type UserRole = keyof typeof PASSWORDS

const page = readFileSync(new URL('../../../docs/install.md', import.meta.url), 'utf8')
/** Lines of an ACL file, as the page has them. */
export const WRITTEN_USERS: readonly string[] = page.match(/^user .+$/gm) ?? []
/** Tests themselves come as the default user, which the page turns off. */
export const USER_RULES: readonly string[] = WRITTEN_USERS.filter((line) => line !== 'user default off')

/** With `punctual-alone`, an API that has no controller: it keeps a folder, and writes the settings itself. */
export function usersFile(): string {
  const [, more] = /`PUNCTUAL_RESOURCES=\.\/resources`\) needs `([^`]+)`/.exec(page) ?? []
  if (more === undefined) throw new Error('docs/install.md has no word for an API that keeps a folder')
  const ofApi = USER_RULES.filter((rule) => rule.includes('-api '))
  const alone = ofApi.map((rule) => `${rule.replace('-api ', '-alone ')} ${more}`)
  return `${[...USER_RULES, ...alone].join('\n')}\n`
}

/** The beginning of a URL of Redis, up to the host. */
export function credentialsOf(role: UserRole): string {
  return `punctual-${role}:${PASSWORDS[role]}@`
}

/** The same for an API that keeps a folder. */
export const CREDENTIALS_ALONE = `punctual-alone:${PASSWORDS.api}@`
