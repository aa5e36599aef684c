import type { BillingContext, ResumeOperation } from '../../core/context.ts'
import { refreshSubscriptionRow } from '../../core/converge.ts'
import { CheckoutNotFound, isDefiniteFailure } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { finishOperation } from '../../core/operation.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { requireOwner } from '../../core/user-scope.ts'
import { formatOwnerKey } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import {
  findCheckoutEvents,
  storeEnteredCard,
  storePendingPayment,
} from '../checkout/checkout-result.ts'
import type { ProviderCheckout } from '../checkout/contract.ts'
import { type CheckoutResult, toCheckoutResult } from '../checkout/user.ts'
import { requireNoCustomerYet } from '../customers/transfer.ts'
import { GUEST_OWNER } from './guest.ts'

/** A completed page of a guest, which therefore has a customer. */
type CompletedPage = ProviderCheckout & { readonly customerId: string }

/**
 * Assigns the customer that a guest's checkout page created to this user. The user's row and an
 * operation are written in one transaction. After a crash before the transaction, nothing has
 * changed. After a later crash, the user's next operation does the rest.
 */
export async function claimCheckout(
  user: UserScopeWith<'guestCheckout'>,
  id: unknown,
): Promise<CheckoutResult> {
  const { context, owner, provider } = user
  const page = await requirePage(context, provider, id)
  await withOwnerLock(context, owner, async (locked) => {
    await resumeInterrupted(context, locked)
    const holder = await context.owners.findByCustomer(provider, page.customerId)
    // The user has claimed the page before.
    if (holder && formatOwnerKey(holder.owner) === formatOwnerKey(owner)) return
    if (holder) throw createCheckoutNotFound()
    await requireNoCustomerYet(context, await requireOwner(context, owner), provider)
    const customer = await (await locked.gateway(provider)).findCustomer(page.customerId)
    if (!customer) throw createCheckoutNotFound()
    const columns = { provider, providerId: customer.id, ...customer.card }
    const request = { provider, page: page.id, customer: customer.id }
    const at = context.options.clock.now()
    try {
      const operation = await locked.lock.write(async (tx) => {
        await context.owners.setCustomer(owner, columns, tx)
        return context.operations.begin({ owner, kind: 'claim_checkout', request }, at, tx)
      })
      await resumeClaim(context, locked, { ...operation, kind: 'claim_checkout' })
    } catch (error) {
      // Another user claimed it in a race: a customer belongs to one owner only.
      const now = await context.owners.findByCustomer(provider, page.customerId)
      if (now && formatOwnerKey(now.owner) !== formatOwnerKey(owner)) throw createCheckoutNotFound()
      throw error
    }
  })
  return toCheckoutResult(user, await requirePage(context, provider, id))
}

/**
 * Completes the claim of a guest's checkout page that a crash interrupted: writes the owner's name
 * at the provider, and stores the page's subscription or payment in our database.
 */
export const resumeClaim: ResumeOperation = async (context, locked, operation) => {
  const { provider, page, customer } = operation.request
  if (!context.options.providers.find(provider)) return
  await storeOwnerAtProvider(locked, provider, String(customer))
  const found = (await (await locked.gateway(provider)).checkout?.find(String(page))) ?? null
  if (found) {
    await storeEnteredCard(context, locked, provider, { ...found, customerId: String(customer) })
    const { subscriptionId: providerId } = found
    if (providerId !== null) await refreshSubscriptionRow(context, locked, { provider, providerId })
  }
  const newEvents = found ? await findCheckoutEvents(context, locked, provider, found) : []
  await finishOperation(context, locked, operation, async (tx) => {
    for (const event of newEvents) await context.events.record(tx, event)
    if (found) await storePendingPayment(context, locked, provider, found, tx)
  })
}

async function storeOwnerAtProvider(
  locked: LockedOwner,
  provider: ProviderName,
  customer: string,
): Promise<void> {
  try {
    await locked.change(provider, async (gateway) => gateway.setOwner?.(customer, locked.owner))
  } catch (error) {
    // A deleted customer needs no name.
    if (!isDefiniteFailure(error)) throw error
  }
}

/**
 * Finds a completed guest page. Ids come from URLs, which anyone can write, so only pages that we
 * created for guests are found.
 * @throws CheckoutNotFound otherwise.
 */
async function requirePage(
  context: BillingContext,
  provider: ProviderName,
  id: unknown,
): Promise<CompletedPage> {
  if (typeof id !== 'string' || !/^\w{1,255}$/.test(id)) throw createCheckoutNotFound()
  const { checkout } = await context.gateway(provider)
  const found = await checkout?.find(id)
  const { customerId = null } = found ?? {}
  if (!found || found.owner !== GUEST_OWNER || found.status !== 'complete' || customerId === null) {
    throw createCheckoutNotFound()
  }
  return { ...found, customerId }
}

function createCheckoutNotFound(): CheckoutNotFound {
  return new CheckoutNotFound('There is no such checkout')
}
