import { randomBytes } from 'node:crypto'
import { InvalidArgument } from '../../errors.ts'
import type { ProviderSetup } from '../../gateways/contract/parts/pages/setups.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import { requireProvider } from '../../subscriptions/known-plans.ts'
import { requireText } from '../../values/arguments.ts'
import type { PendingConfirmation } from '../../values/confirmation.ts'
import type { UserHaving, UserScope } from '../user-scope.ts'
import { withCustomer } from '../with-customer.ts'
import { checkout } from './checkout.ts'

/** What a card is kept for. */
export interface SetupOptions {
  /** Whether the customer will be there when it is charged. Default `off_session`. */
  readonly for?: 'off_session' | 'on_session'
}

/** What the provider's form in the browser may do. */
export interface ClientTokenOptions {
  /** Whether what is entered becomes the default at once. Default: no. */
  readonly makeDefault?: boolean
  /** Whether a card is tried before it is kept. Default: yes. */
  readonly verifyCard?: boolean
}

/** Where people come back to from a form of the provider's. */
export interface PaymentFormOptions {
  /** Where they go who left a card; a path on our host. */
  readonly successPath: string
  /** Where they go who change their mind; a path on our host. */
  readonly cancelPath?: string
}

/** How a card is asked for. */
export type PaymentForm =
  /** Send the customer there. When they come back, the card is the default. */
  | { readonly kind: 'redirect'; readonly url: string }
  /** For the provider's form in your page; give what it gives to `addPaymentMethod()`. */
  | { readonly kind: 'token'; readonly clientToken: string }

/** A card that is kept, or to be kept, by the provider's script in the browser. */
export type SetupIntent = ProviderSetup

export async function createSetup(
  user: UserHaving<'setups'>,
  { for: usage = 'off_session' }: SetupOptions,
): Promise<PendingConfirmation> {
  if (usage !== 'off_session' && usage !== 'on_session') {
    throw new InvalidArgument('A card is kept for off_session or on_session')
  }
  return withCustomer(user, (locked, customerId) => {
    // Not on record: one that nobody heard of does no harm, and the next call makes another.
    const operation = randomBytes(12).toString('hex')
    return locked.change(user.provider, (gateway) =>
      requirePart(gateway, 'setups').create({ customerId, usage, operation }),
    )
  })
}

export async function findSetup(
  user: UserHaving<'setups'>,
  id: string,
): Promise<SetupIntent | null> {
  requireText('setup intent', id)
  const customerId = await user.findCustomerId()
  return customerId === null ? null : (await user.gateway()).setups.find(id, customerId)
}

export async function createClientToken(
  user: UserHaving<'clientTokens'>,
  { makeDefault = false, verifyCard = true }: ClientTokenOptions,
): Promise<string> {
  const customerId = await user.findCustomerId()
  return (await user.gateway()).clientTokens.create({ customerId, makeDefault, verifyCard })
}

/** A page of the provider's where there is one; otherwise its form in a page of the application's. */
export async function openPaymentForm(
  user: UserScope,
  options: PaymentFormOptions,
): Promise<PaymentForm> {
  const { can } = requireProvider(user.context, user.provider)
  if (!can.includes('checkout')) {
    const clientToken = await createClientToken(user.having('clientTokens'), {})
    return { kind: 'token', clientToken }
  }
  const { url } = await checkout(user.having('checkout'), [], { ...options, mode: 'setup' })
  if (url === null) throw new Error('The page is not open')
  return { kind: 'redirect', url }
}
