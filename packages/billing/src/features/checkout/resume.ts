import type { ResumeOperation } from '../../core/context.ts'
import { finishOperation } from '../../core/operation.ts'
import { applyCheckoutResult } from './checkout-result.ts'
import { createCheckoutPaymentEvents, readCheckoutPaymentStatus } from './events.ts'

/**
 * Applies the result of a hosted checkout page to our database. The operation that created the page
 * stays stored for as long as the customer can still pay on it.
 */
export const resumeCheckout: ResumeOperation = async (context, locked, operation) => {
  await applyCheckoutResult(context, locked, operation)
}

/**
 * Applies the result of a delayed payment (such as a bank debit) made on a hosted checkout page.
 * The operation stays stored until the payment has arrived or failed, which may take days.
 */
export const resumeCheckoutPayment: ResumeOperation = async (context, locked, operation) => {
  const { provider, page } = operation.request
  // A provider that is no longer configured cannot be read. The operation stays and blocks nothing.
  if (!context.options.providers.find(provider)) return
  const found = (await (await locked.gateway(provider)).checkout?.find(String(page))) ?? null
  if (found && readCheckoutPaymentStatus(found) === 'pending') return
  const newEvents = found
    ? createCheckoutPaymentEvents({ owner: locked.owner, provider }, found)
    : []
  await finishOperation(context, locked, operation, async (tx) => {
    for (const event of newEvents) await context.events.record(tx, event)
  })
}
