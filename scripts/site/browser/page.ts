/** Loaded before the page is drawn, so that it is drawn in the theme that was chosen. */
const root = document.documentElement
const chosen = localStorage.getItem('theme')
if (chosen !== null) root.dataset['theme'] = chosen

addEventListener('DOMContentLoaded', () => {
  document.querySelector('#theme')?.addEventListener('click', changeTheme)
  const list = document.querySelector('nav details')
  // On a phone the list of documents would stand before the text.
  if (matchMedia('(width < 800px)').matches) list?.removeAttribute('open')
  else list?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
})

function changeTheme(): void {
  const given = root.dataset['theme']
  const isDark = given === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : given === 'dark'
  root.dataset['theme'] = isDark ? 'light' : 'dark'
  localStorage.setItem('theme', root.dataset['theme'])
}
