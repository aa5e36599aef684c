import { isBillingError } from '../../core/errors/error-codes.ts'
import { withOwnerLock } from '../../core/owner-lock.ts'
import { requireOwner, type UserScope, type UserScopeWith } from '../../core/user-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { Address, CustomerDetails } from '../../providers/customer.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { chooseProvider as choose } from './choose-provider.ts'
import {
  ensureCustomer,
  readCustomerDetailsFromRow,
  requireValidLocale,
  withExistingCustomer,
} from './customer.ts'
import { transferCustomer } from './transfer.ts'

export async function updateCard(
  user: UserScope,
  token: string,
  details: CustomerDetails,
): Promise<void> {
  requireText('card token', token)
  const { context, provider } = user
  await withOwnerLock(context, user.owner, (locked) =>
    ensureCustomer(context, locked, { provider, token, details }),
  )
  await user.user.reload()
  context.usage.wake(provider)
}

export async function updateCustomer(
  user: UserScopeWith<'customerDetails'>,
  details: CustomerDetails,
): Promise<void> {
  requireValidLocale(user.context, user.provider, details)
  await withExistingCustomer(user, (locked, customerId) =>
    locked.change(user.provider, (gateway) =>
      requireGatewayPart(gateway, 'customerDetails').set(customerId, details),
    ),
  )
}

/**
 * Copies the customer details from the owner's row to the provider. Reads the row while it holds
 * the owner's lock, so that the later of two concurrent changes also wins at the provider.
 */
export async function syncCustomerDetails(user: UserScopeWith<'customerDetails'>): Promise<void> {
  const { context, owner } = user
  await withOwnerLock(context, owner, async (locked) => {
    const billed = await requireOwner(context, owner)
    const { provider, providerId } = billed
    if (provider === null || providerId === null) return
    try {
      await locked.change(provider, (gateway) =>
        requireGatewayPart(gateway, 'customerDetails').set(
          providerId,
          readCustomerDetailsFromRow(context, billed),
        ),
      )
    } catch (error) {
      // The details of a deleted customer are sent again when a card creates a new one.
      if (!isBillingError(error, 'no_customer')) throw error
    }
  })
}

export async function chooseProvider(user: UserScope, provider: ProviderName): Promise<void> {
  await choose(user.context, user.owner, provider)
  await user.user.reload()
}

export async function transferTo(user: UserScope, to: Owner): Promise<void> {
  await transferCustomer(user.context, user.owner, to)
  await user.user.reload()
}

export async function readBillingAddress(user: UserScope): Promise<Address | null> {
  const providerId = await user.findCustomerId()
  if (providerId === null) return null
  return (await (await user.gateway()).findCustomer(providerId))?.address ?? null
}

export async function readProviderCustomer(user: UserScope): Promise<unknown> {
  const providerId = await user.findCustomerId()
  if (providerId === null) return null
  return (await (await user.gateway()).findCustomer(providerId))?.raw ?? null
}
