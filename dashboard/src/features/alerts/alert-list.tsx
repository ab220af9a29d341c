import { Page } from '../../ui/page.tsx'

export function AlertList() {
  return <Page title="Alerts">{null}</Page>
}
