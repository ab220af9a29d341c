import { Page } from '../../ui/page.tsx'

export function Maintenance() {
  return <Page title="Maintenance">{null}</Page>
}
