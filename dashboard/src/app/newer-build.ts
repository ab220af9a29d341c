const KEY = 'punctual.reloaded-at'
/** While pods are replaced, the next request may go to an old one again. */
const BETWEEN_MS = 5_000

/** After an upgrade the server no longer has the screens of a page that is still open: it is read anew. */
export function reloadForNewerBuild(): void {
  window.addEventListener('vite:preloadError', (event) => {
    const lastMs = Number(sessionStorage.getItem(KEY) ?? 0)
    if (Date.now() - lastMs < BETWEEN_MS) return
    event.preventDefault()
    sessionStorage.setItem(KEY, String(Date.now()))
    window.location.reload()
  })
}
