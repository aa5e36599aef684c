import type { ProviderName } from '@tollgate/billing'
import type { BothProviders } from '../../../demo/providers.ts'

/** A card of the sandbox, and what becomes of it. */
export interface TestCard {
  readonly token: string
  readonly label: string
  /** Charges of this customer that are declined once the card is accepted; Stripe's cards do so themselves. */
  readonly declinesLater?: number
}

const BRAINTREE_DECLINE = '2001'

export const TEST_CARDS: Readonly<Record<ProviderName, readonly TestCard[]>> = {
  stripe: [
    { token: 'pm_card_visa', label: 'Visa 4242: works' },
    { token: 'pm_card_mastercard', label: 'Mastercard 4444: works' },
    { token: 'pm_card_authenticationRequired', label: 'Visa 3184: the bank asks (3-D Secure)' },
    { token: 'pm_card_chargeDeclined', label: 'Visa 0002: declined at once' },
    {
      token: 'pm_card_chargeDeclinedInsufficientFunds',
      label: 'Visa 9995: not enough money',
    },
    { token: 'pm_card_chargeCustomerFail', label: 'Visa 0341: accepted, every charge fails' },
  ],
  braintree: [
    { token: 'fake-valid-visa-nonce', label: 'Visa 1881: works' },
    { token: 'fake-valid-mastercard-nonce', label: 'Mastercard 4444: works' },
    { token: 'fake-processor-declined-visa-nonce', label: 'Visa 1115: declined at once' },
    {
      token: 'fake-valid-discover-nonce',
      label: 'Discover 1117: accepted, the next three charges fail',
      // A charge, and the two retries Braintree makes before it gives up.
      declinesLater: 3,
    },
  ],
}

export function findTestCard(provider: ProviderName, token: string): TestCard | null {
  return TEST_CARDS[provider].find((card) => card.token === token) ?? null
}

/** A new card has only its own troubles: those that were ordered for the one before are forgotten. */
export function rehearse(sandbox: BothProviders, customerId: string, card: TestCard | null): void {
  const { trouble } = sandbox
  while (trouble.takeDecline(customerId) !== null);
  for (let left = card?.declinesLater ?? 0; left > 0; left--) {
    trouble.declineNextCharge(customerId, BRAINTREE_DECLINE)
  }
}

/** What somebody tells the sandbox's bank, which takes their word for it. */
export function answerBank(
  { stripe }: BothProviders,
  payment: { readonly id: string },
  approved: boolean,
): void {
  if (approved) stripe.completeAuthentication(payment.id)
  else stripe.failAuthentication(payment.id)
}

/** The next charge of this customer is declined, whatever its card. */
export function failNextCharge(
  sandbox: BothProviders,
  customer: { readonly provider: ProviderName; readonly id: string },
): void {
  const code = { stripe: 'insufficient_funds', braintree: BRAINTREE_DECLINE }[customer.provider]
  sandbox.trouble.declineNextCharge(customer.id, code)
}
