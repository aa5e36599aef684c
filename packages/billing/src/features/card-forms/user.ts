import { randomBytes } from 'node:crypto'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { requireProvider } from '../../core/known-prices.ts'
import type { UserScope, UserScopeWith } from '../../core/user-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { openCheckoutPage } from '../checkout/user.ts'
import { withEnsuredCustomer } from '../customers/customer.ts'
import type { ProviderCardSetup } from './contract.ts'

/** Options for `createSetupIntent()`. */
export interface SetupOptions {
  /**
   * Whether the customer is present when the card is charged later (`on_session`) or not.
   * @default 'off_session'
   */
  readonly for?: 'off_session' | 'on_session'
}

/** Options for `clientToken()`. */
export interface ClientTokenOptions {
  /**
   * Whether the entered payment method becomes the default immediately.
   * @default false
   */
  readonly makeDefault?: boolean
  /**
   * Whether the card is verified before it is stored.
   * @default true
   */
  readonly verifyCard?: boolean
}

/**
 * Options for `paymentForm()`: the paths of the application to which customers return from a page
 * hosted by the provider.
 */
export interface PaymentFormOptions {
  /** Path of the application to which customers return after they have entered a card. */
  readonly successPath: string
  /** Path of the application to which customers return if they cancel. */
  readonly cancelPath?: string
}

/** A way to collect a card, as returned by `paymentForm()`. */
export type PaymentForm =
  /** Send the customer to this URL. When they return, their card is the default. */
  | { readonly kind: 'redirect'; readonly url: string }
  /** Token for the provider's form in your page. Pass the form's result to `addPaymentMethod()`. */
  | { readonly kind: 'token'; readonly clientToken: string }

/**
 * State of storing a card without a payment (a setup intent at Stripe), as returned by
 * `findSetupIntent()`.
 */
export type SetupIntent = ProviderCardSetup

export async function createCardSetup(
  user: UserScopeWith<'setups'>,
  { for: usage = 'off_session' }: SetupOptions,
): Promise<PendingConfirmation> {
  if (usage !== 'off_session' && usage !== 'on_session') {
    throw new InvalidArgument("`for` should be 'off_session' or 'on_session'")
  }
  return withEnsuredCustomer(user, (locked, customerId) => {
    // Not recorded as an operation: an unused setup intent does no harm, and the next call creates
    // another one.
    const operation = randomBytes(12).toString('hex')
    return locked.change(user.provider, (gateway) =>
      requireGatewayPart(gateway, 'setups').create({ customerId, usage, operation }),
    )
  })
}

export async function findCardSetup(
  user: UserScopeWith<'setups'>,
  id: string,
): Promise<SetupIntent | null> {
  requireText('setup intent', id)
  const customerId = await user.findCustomerId()
  return customerId === null ? null : (await user.gateway()).setups.find(id, customerId)
}

export async function createClientToken(
  user: UserScopeWith<'clientTokens'>,
  { makeDefault = false, verifyCard = true }: ClientTokenOptions,
): Promise<string> {
  const customerId = await user.findCustomerId()
  return (await user.gateway()).clientTokens.create({ customerId, makeDefault, verifyCard })
}

/**
 * Returns the URL of the provider's hosted page for entering a card, if the provider has one.
 * Otherwise returns a token for the provider's form in the application's own page.
 */
export async function openPaymentForm(
  user: UserScope,
  options: PaymentFormOptions,
): Promise<PaymentForm> {
  const { can } = requireProvider(user.context, user.provider)
  if (!can.includes('checkout')) {
    const clientToken = await createClientToken(user.withCapability('clientTokens'), {})
    return { kind: 'token', clientToken }
  }
  const { url } = await openCheckoutPage(user.withCapability('checkout'), [], {
    ...options,
    mode: 'setup',
  })
  if (url === null) throw new Error('The checkout page has no URL, because it is no longer open')
  return { kind: 'redirect', url }
}
