import { closeCheckouts } from '../consistency/close-checkouts.ts'
import { findRunning } from '../consistency/find-running.ts'
import { attempt, begin } from '../consistency/operation.ts'
import { type LockedOwner, withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import { abandon } from '../consistency/settle-first-payment.ts'
import type { BillingContext } from '../context.ts'
import { ensureCustomer } from '../customers/customer.ts'
import { hasTrial, requireTrialLeft } from '../customers/one-trial.ts'
import { readSubscriptionTax, type SubscriptionTax } from '../customers/read-tax.ts'
import { AlreadySubscribed } from '../errors.ts'
import type { CheckoutLine, NewCheckout } from '../gateways/contract/parts/pages/checkout.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { TaxSource } from '../options.ts'
import type { ProviderName } from '../provider-name.ts'
import type { Intent, Operation } from '../storage/operations.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { isUser, type Owner, ownerKey } from '../values/owner.ts'
import { awaitsFirstPayment } from '../values/subscription-state.ts'
import { type Checkout, toCheckout } from './checkout.ts'
import type { CheckoutRequest } from './checkout-request.ts'
import { ownUrl } from './own-url.ts'

/**
 * A page of the provider's on which this owner can pay. Asked for again, it is the same page for as long as
 * that is open; one for the same subscription with other terms is closed, and nobody can pay both.
 */
export async function openCheckout(
  context: BillingContext,
  billed: BilledOwner,
  provider: ProviderName,
  wanted: CheckoutRequest,
): Promise<Checkout> {
  const { owner } = billed
  const taxed = await taxOf(context, billed, wanted)
  const asked = { ...wanted, ...addressesOf(context, owner, wanted), ...taxed }
  const made = await withOwnerLock(context, owner, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    const payer = { provider, token: null, details: {}, mayLackCard: true }
    const customerId = await ensureCustomer(context, locked, payer)
    const page = { ...asked, customerId, owner: ownerKey(owner) }
    const name = wanted.subscription?.name
    const intent: Intent = {
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
      if (hasTrial(wanted.subscription)) {
        const notThis = begun.filter(({ id }) => id !== same?.id)
        await requireTrialLeft(context, locked, notThis)
      }
    }
    const operation = await begin(context, locked, intent)
    return attempt(context, locked, operation, () =>
      locked.change(provider, (gateway) =>
        requirePart(gateway, 'checkout').create(pageOf(operation)),
      ),
    )
  })
  return toCheckout(context, { owner, provider }, made)
}

/**
 * Where `authenticate` says who is back, our own route comes first. It knows users alone: for a team it is up
 * to the application whether somebody belongs to it.
 */
function addressesOf(
  context: BillingContext,
  owner: Owner,
  { successPath, cancelPath }: CheckoutRequest,
): Pick<NewCheckout, 'successUrl' | 'cancelUrl'> {
  const { authenticate, paths } = context.options
  const done = ownUrl(context, 'successPath', successPath)
  return {
    successUrl:
      authenticate && isUser(owner)
        ? ownUrl(context, 'checkoutReturn', paths.checkoutReturn)
        : done,
    cancelUrl: cancelPath === null ? null : ownUrl(context, 'cancelPath', cancelPath),
  }
}

async function taxOf(
  context: BillingContext,
  billed: BilledOwner,
  { tax: chosen, mode, lines }: CheckoutRequest,
): Promise<Pick<NewCheckout, 'tax' | 'lines' | 'chosenTax'>> {
  const choice = chosen === null ? {} : { chosenTax: chosen }
  if (chosen === 'none' || mode === 'setup') return { tax: 0, lines, ...choice }
  const own = await Promise.all(lines.map((line) => taxOfLine(context, billed, line, chosen)))
  if (own.some(({ automaticTax }) => automaticTax)) return { tax: 'automatic', lines, ...choice }
  const taxed = lines.map((line, at) => {
    const { taxRates = [] } = own[at] ?? {}
    return taxRates.length > 0 ? { ...line, taxRates } : line
  })
  // A percentage is for subscriptions, as the option says.
  return { tax: mode === 'subscription' ? (own[0]?.tax ?? 0) : 0, lines: taxed, ...choice }
}

/** An amount with a name has no price that could have rates of its own. */
function taxOfLine(
  context: BillingContext,
  billed: BilledOwner,
  line: CheckoutLine,
  chosen: TaxSource | null,
): Promise<SubscriptionTax> {
  const hasRates = typeof context.options.tax === 'object'
  if (!('price' in line) && hasRates && chosen === null) return Promise.resolve({ tax: 0 })
  return readSubscriptionTax(context, billed, 'price' in line ? line.price : '', chosen)
}

/** The name is nobody's. What was never paid under it is closed, as by another `create()`. */
async function requireFree(
  context: BillingContext,
  locked: LockedOwner,
  name: string,
): Promise<void> {
  const running = await findRunning(context, locked, name)
  if (!running) return
  if (awaitsFirstPayment(running.record)) {
    await abandon(locked, running.record.provider, running.found)
    if (!(await findRunning(context, locked, name))) return
  }
  throw new AlreadySubscribed(`There is a subscription '${name}' already: use swap()`)
}

/** As it was first asked for; a date comes back from the record as text. */
function pageOf({ id, request }: Operation): NewCheckout {
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
