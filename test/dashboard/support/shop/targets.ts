/** What the jobs of the shop call: four services of others, each with its good and its bad days. */
import { hang, type Target } from '../../../support/targets/target.ts'

export interface ShopTargets {
  readonly mail: Target
  readonly partner: Target
  readonly search: Target
  readonly payments: Target
}

const json = (value: unknown): { headers: Record<string, string>; body: string } => ({
  headers: { 'content-type': 'application/json', 'x-request-id': '7f2c9d10-5b1e-4a08' },
  body: JSON.stringify(value),
})

export async function startShopTargets(newTarget: () => Promise<Target>): Promise<ShopTargets> {
  const targets = {
    mail: await newTarget(),
    partner: await newTarget(),
    search: await newTarget(),
    payments: await newTarget(),
  }
  const { mail, partner, search, payments } = targets
  mail.route('/v1', () => json({ id: 'msg_01JD2M8K', state: 'accepted' }))
  mail.route('/v1/bounces', () => ({ status: 404, ...json({ error: 'no such mailbox' }) }))
  partner.route('/orders', () => ({
    status: 503,
    ...json({ error: 'upstream unavailable', retry: 'later' }),
  }))
  partner.route('/returns', () => ({
    status: 500,
    headers: { 'content-type': 'text/html' },
    body: '<h1>Internal Server Error</h1>',
  }))
  partner.route('/stock', (_arrival, nth) =>
    nth < 4 ? { status: 503, ...json({ error: 'upstream unavailable' }) } : json({ received: true }),
  )
  partner.route('/slow', hang)
  search.route('/products', () => json({ indexed: 1, took: 4 }))
  search.route('/stock', () => json({ changed: 12 }))
  search.route('/reindex', hang)
  payments.route('/v2', () => json({ captured: true, amount: 4990, currency: 'EUR' }))
  return targets
}
