import type { BillingContext } from '../../core/context.ts'
import { AlreadySubscribed } from '../../core/errors/errors.ts'
import { findRunningSubscription } from '../../core/find-running.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, runOperation } from '../../core/operation.ts'
import { requireApplicationUrl } from '../../core/own-url.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { OperationIntent, PendingOperation } from '../../core/storage/operations.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import { readSubscriptionTax, type SubscriptionTax } from '../../core/tax.ts'
import { formatOwnerKey, isUser, type Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { awaitsFirstPayment } from '../../core/values/subscription-state.ts'
import type { TaxSource } from '../../options.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { ensureCustomer } from '../customers/customer.ts'
import { endUnpaidSubscription } from '../subscribe/settle-first-payment.ts'
import { requireTrialUnused, startsWithTrial } from '../trials/one-trial.ts'
import { type Checkout, toCheckout } from './checkout.ts'
import type { CheckoutRequest } from './checkout-request.ts'
import { closeCheckouts } from './close-checkouts.ts'
import type { CheckoutLine, NewCheckout } from './contract.ts'

/**
 * Opens a hosted checkout page for this owner. While the page is open, a repeated call with the
 * same terms returns the same page. A call for the same subscription with other terms expires the
 * earlier page first, so that the customer cannot pay on both.
 */
export async function openCheckout(
  context: BillingContext,
  billed: BilledOwner,
  provider: ProviderName,
  checkoutRequest: CheckoutRequest,
): Promise<Checkout> {
  const { owner } = billed
  const taxed = await readCheckoutTax(context, billed, checkoutRequest)
  const asked = {
    ...checkoutRequest,
    ...buildReturnUrls(context, owner, checkoutRequest),
    ...taxed,
  }
  const made = await withOwnerLock(context, owner, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    const payer = { provider, token: null, details: {}, mayLackCard: true }
    const customerId = await ensureCustomer(context, locked, payer)
    const page = { ...asked, customerId, owner: formatOwnerKey(owner) }
    const name = checkoutRequest.subscription?.name
    const intent: OperationIntent = {
      owner,
      kind: 'checkout',
      request: { provider, tax: taxed.tax, page },
      ...(name === undefined ? {} : { name }),
    }
    if (name !== undefined) {
      const same = await context.operations.find(intent)
      const others = begun.filter((other) => other.name === name && other.id !== same?.id)
      await closeCheckouts(context, locked, others)
      await requireFree(context, locked, name)
      if (startsWithTrial(checkoutRequest.subscription)) {
        const notThis = begun.filter(({ id }) => id !== same?.id)
        await requireTrialUnused(context, locked, notThis)
      }
    }
    const operation = await beginOperation(context, locked, intent)
    return runOperation(context, locked, operation, () =>
      locked.change(provider, (gateway) =>
        requireGatewayPart(gateway, 'checkout').create(restoreRequestedCheckout(operation)),
      ),
    )
  })
  return toCheckout(context, { owner, provider }, made)
}

/**
 * Returns the URLs to which customers return. With `authenticate`, our own return route comes
 * first. For teams, customers return to the application directly, because only the application
 * knows their members.
 */
function buildReturnUrls(
  context: BillingContext,
  owner: Owner,
  { successPath, cancelPath }: CheckoutRequest,
): Pick<NewCheckout, 'successUrl' | 'cancelUrl'> {
  const { authenticate, paths } = context.options
  const done = requireApplicationUrl(context, 'successPath', successPath)
  return {
    successUrl:
      authenticate && isUser(owner)
        ? requireApplicationUrl(context, 'checkoutReturn', paths.checkoutReturn)
        : done,
    cancelUrl:
      cancelPath === null ? null : requireApplicationUrl(context, 'cancelPath', cancelPath),
  }
}

async function readCheckoutTax(
  context: BillingContext,
  billed: BilledOwner,
  { tax: chosen, mode, lines }: CheckoutRequest,
): Promise<Pick<NewCheckout, 'tax' | 'lines' | 'chosenTax'>> {
  const choice = chosen === null ? {} : { chosenTax: chosen }
  if (chosen === 'none' || mode === 'setup') return { tax: 0, lines, ...choice }
  const own = await Promise.all(lines.map((line) => readLineTax(context, billed, line, chosen)))
  if (own.some(({ automaticTax }) => automaticTax)) return { tax: 'automatic', lines, ...choice }
  const taxed = lines.map((line, at) => {
    const { taxRates = [] } = own[at] ?? {}
    return taxRates.length > 0 ? { ...line, taxRates } : line
  })
  // `taxPercentage` applies to subscriptions only.
  return { tax: mode === 'subscription' ? (own[0]?.tax ?? 0) : 0, lines: taxed, ...choice }
}

/**
 * Reads the tax of a line. Configured tax rates belong to prices, so an item that is given by name
 * and amount has none.
 */
function readLineTax(
  context: BillingContext,
  billed: BilledOwner,
  line: CheckoutLine,
  chosen: TaxSource | null,
): Promise<SubscriptionTax> {
  const hasRates = typeof context.options.tax === 'object'
  if (!('price' in line) && hasRates && chosen === null) return Promise.resolve({ tax: 0 })
  return readSubscriptionTax(context, billed, 'price' in line ? line.price : '', chosen)
}

/**
 * Requires that no subscription of this name is running. A subscription whose first payment is
 * still open is abandoned, as in `create()`.
 */
async function requireFree(
  context: BillingContext,
  locked: LockedOwner,
  name: string,
): Promise<void> {
  const running = await findRunningSubscription(context, locked, name)
  if (!running) return
  if (awaitsFirstPayment(running.record)) {
    await endUnpaidSubscription(locked, running.record.provider, running.found)
    if (!(await findRunningSubscription(context, locked, name))) return
  }
  throw new AlreadySubscribed(`There is a subscription '${name}' already: use swap()`)
}

/** Returns the page as first requested. Converts its dates, which are stored as text. */
function restoreRequestedCheckout({ id, request }: PendingOperation): NewCheckout {
  const page = request.page as Omit<NewCheckout, 'operation'>
  const { subscription } = page
  if (!subscription) return { ...page, operation: id }
  const { trialEndsAt, anchorAt } = subscription
  const dates = {
    trialEndsAt: trialEndsAt === null ? null : new Date(trialEndsAt),
    ...(anchorAt ? { anchorAt: new Date(anchorAt) } : {}),
  }
  return { ...page, subscription: { ...subscription, ...dates }, operation: id }
}
