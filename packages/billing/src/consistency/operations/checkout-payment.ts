import { eventsOfPayment, paymentStatusOf } from '../../events/of-checkout.ts'
import { finish } from '../operation.ts'
import type { Resume } from './resume.ts'

/** A payment on a hosted page is on record until its money is there or has failed, which may take days. */
export const checkoutPayment: Resume = async (context, locked, operation) => {
  const { provider, page } = operation.request
  // Of a provider that is no longer used nothing can be read; that stands in nobody's way.
  if (!context.options.providers.find(provider)) return
  const found = (await (await locked.gateway(provider)).checkout?.find(String(page))) ?? null
  if (found && paymentStatusOf(found) === 'pending') return
  const told = found ? eventsOfPayment({ owner: locked.owner, provider }, found) : []
  await finish(context, locked, operation, async (tx) => {
    for (const event of told) await context.events.record(tx, event)
  })
}
