import type { BillingContext, Resume } from '../../core/context.ts'
import { converge } from '../../core/converge.ts'
import { CheckoutNotFound, isFinal } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { finish } from '../../core/operation.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { UserHaving } from '../../core/user-scope.ts'
import { requireOwner } from '../../core/user-scope.ts'
import { ownerKey } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import {
  findCheckoutEvents,
  storeEnteredCard,
  storePendingPayment,
} from '../checkout/checkout-result.ts'
import type { ProviderCheckout } from '../checkout/contract.ts'
import { type CheckoutResult, resultOf } from '../checkout/user.ts'
import { requireFree } from '../customers/transfer.ts'
import { GUEST } from './guest.ts'

/** A completed page of a guest, which therefore has a customer. */
type CompletedPage = ProviderCheckout & { readonly customerId: string }

/**
 * Gives the user the customer that a guest's page created. The row and the operation are written in
 * one transaction: if the process crashes before it, nothing has changed; after it, the user's next
 * operation does the rest.
 */
export async function claimCheckout(
  user: UserHaving<'guestCheckout'>,
  id: unknown,
): Promise<CheckoutResult> {
  const { context, owner, provider } = user
  const page = await requirePage(context, provider, id)
  await withOwnerLock(context, owner, async (locked) => {
    await resumeInterrupted(context, locked)
    const holder = await context.owners.findByCustomer(provider, page.customerId)
    // The user has claimed the page before.
    if (holder && ownerKey(holder.owner) === ownerKey(owner)) return
    if (holder) throw missing()
    await requireFree(context, await requireOwner(context, owner), provider)
    const customer = await (await locked.gateway(provider)).findCustomer(page.customerId)
    if (!customer) throw missing()
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
      if (now && ownerKey(now.owner) !== ownerKey(owner)) throw missing()
      throw error
    }
  })
  return resultOf(user, await requirePage(context, provider, id))
}

/** Writes the owner's name at the provider, and adds what the page sold to our rows. */
export const resumeClaim: Resume = async (context, locked, operation) => {
  const { provider, page, customer } = operation.request
  if (!context.options.providers.find(provider)) return
  await nameOwner(locked, provider, String(customer))
  const found = (await (await locked.gateway(provider)).checkout?.find(String(page))) ?? null
  if (found) {
    await storeEnteredCard(context, locked, provider, { ...found, customerId: String(customer) })
    const { subscriptionId: providerId } = found
    if (providerId !== null) await converge(context, locked, { provider, providerId })
  }
  const newEvents = found ? await findCheckoutEvents(context, locked, provider, found) : []
  await finish(context, locked, operation, async (tx) => {
    for (const event of newEvents) await context.events.record(tx, event)
    if (found) await storePendingPayment(context, locked, provider, found, tx)
  })
}

async function nameOwner(
  locked: LockedOwner,
  provider: ProviderName,
  customer: string,
): Promise<void> {
  try {
    await locked.change(provider, async (gateway) => gateway.setOwner?.(customer, locked.owner))
  } catch (error) {
    // A deleted customer needs no name.
    if (!isFinal(error)) throw error
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
  if (typeof id !== 'string' || !/^\w{1,255}$/.test(id)) throw missing()
  const { checkout } = await context.gateway(provider)
  const found = await checkout?.find(id)
  const { customerId = null } = found ?? {}
  if (!found || found.owner !== GUEST || found.status !== 'complete' || customerId === null) {
    throw missing()
  }
  return { ...found, customerId }
}

function missing(): CheckoutNotFound {
  return new CheckoutNotFound('There is no such checkout')
}
