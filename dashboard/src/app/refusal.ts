import { useLocation } from 'preact-iso'
import { useMe } from '../session/me.ts'
import { PLACES } from './navigation.tsx'
import { at } from '../routing/paths.ts'

/** Screens that show the team as a whole, which nobody may see who is limited to some queues. */
const OF_THE_TEAM = ['/', '/bulk', '/notifications', '/audit', '/status']

/** Why the login may not see the screen of the address, and what the screen is called; null = it may. */
export function useRefusal(): { readonly title: string; readonly reason: string } | null {
  const { may, queues } = useMe()
  const { path } = useLocation()
  const place = (one: string): boolean => path === at(one) || (one !== '/' && path.startsWith(`${at(one)}/`))
  const title = PLACES.flatMap(({ places }) => places).find((one) => place(one.path))?.label ?? 'Punctual'
  if (!may.read && !place('/send')) {
    return { title, reason: 'It needs the permission to read, which your login does not have.' }
  }
  if (!may.operate && place('/audit')) {
    return { title, reason: 'It needs the permission to operate, which your login does not have.' }
  }
  if (queues !== null && OF_THE_TEAM.some(place)) {
    const named = queues.map((name) => `“${name}”`).join(', ')
    return { title, reason: `It shows the whole team, and your login is limited to ${named}.` }
  }
  return null
}
