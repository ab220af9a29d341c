import { showToast } from '../overlays/toast.tsx'

/** @param what such as `Request body`, for the message */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    showToast({ tone: 'good', text: `${what} copied` })
  } catch {
    // Over plain HTTP from another machine there is no clipboard.
    showToast({ tone: 'bad', text: 'The browser does not let this page copy. Select the text instead.' })
  }
}

export function saveText(text: string, file: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = file
  link.click()
  URL.revokeObjectURL(url)
}
