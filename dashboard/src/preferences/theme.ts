import { createPreference } from './preference.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const theme = createPreference<Theme>(
  'punctual.theme',
  'system',
  (text) => THEMES.find((known) => known === text) ?? null,
)

/** Sets `data-theme`, which the style sheet reads; the system's own needs none. */
export function applyTheme(): void {
  const apply = (): void => {
    const chosen = theme.get()
    if (chosen === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = chosen
  }
  apply()
  theme.subscribe(apply)
}
