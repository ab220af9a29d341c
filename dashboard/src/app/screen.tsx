import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/page/empty.tsx'
import { Page } from '../ui/page/page.tsx'

/** A screen whose code comes when it is first shown; the screen before it stays until then. */
export function screen(load: () => Promise<ComponentType>): ComponentType {
  return lazy(() => load().catch(() => Unloaded))
}

/** After an upgrade the files of the version before are gone. */
function Unloaded() {
  return (
    <Page title="Not loaded">
      <Empty icon="warning" title="This screen could not be loaded">
        <p>Punctual may have been upgraded since you opened the page, or it does not answer.</p>
        <Button onClick={() => window.location.reload()}>Load the page again</Button>
      </Empty>
    </Page>
  )
}
