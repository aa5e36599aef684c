import type { Resume } from '../../core/context.ts'
import { finish } from '../../core/operation.ts'
import { applyCheckoutResult } from './checkout-result.ts'
import { eventsOfPayment, paymentStatusOf } from './events.ts'

/**
 * Applies the result of a hosted page to our rows. Its operation stays recorded for as long as the
 * customer can still pay on the page.
 */
export const resumeCheckout: Resume = async (context, locked, operation) => {
  await applyCheckoutResult(context, locked, operation)
}

/**
 * Handles the result of a payment made on a hosted page. Its operation stays recorded until the
 * payment has arrived or failed, which may take days.
 */
export const resumeCheckoutPayment: Resume = async (context, locked, operation) => {
  const { provider, page } = operation.request
  // A provider that is no longer configured cannot be read. The operation stays and blocks nothing.
  if (!context.options.providers.find(provider)) return
  const found = (await (await locked.gateway(provider)).checkout?.find(String(page))) ?? null
  if (found && paymentStatusOf(found) === 'pending') return
  const newEvents = found ? eventsOfPayment({ owner: locked.owner, provider }, found) : []
  await finish(context, locked, operation, async (tx) => {
    for (const event of newEvents) await context.events.record(tx, event)
  })
}
