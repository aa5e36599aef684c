import type { ProviderName } from '@tollgate/billing'
import type { BothProviders } from '../../../demo/providers.ts'
import type { PageMessages } from '../../../messages/en.ts'

/** A test card of the sandbox, and how it behaves. */
export interface TestCard {
  readonly token: string
  /** The brand and the last four digits. */
  readonly card: string
  /** The id of the text that says what happens to the card. */
  readonly label: Extract<keyof PageMessages, `testCard.${string}`>
  /** Charges of this customer that are declined once the card is accepted; Stripe's cards do so themselves. */
  readonly declinesLater?: number
}

const BRAINTREE_DECLINE = '2001'

export const TEST_CARDS: Readonly<Record<ProviderName, readonly TestCard[]>> = {
  stripe: [
    { token: 'pm_card_visa', card: 'Visa 4242', label: 'testCard.works' },
    { token: 'pm_card_mastercard', card: 'Mastercard 4444', label: 'testCard.works' },
    { token: 'pm_card_authenticationRequired', card: 'Visa 3184', label: 'testCard.bankAsks' },
    { token: 'pm_card_chargeDeclined', card: 'Visa 0002', label: 'testCard.declined' },
    {
      token: 'pm_card_chargeDeclinedInsufficientFunds',
      card: 'Visa 9995',
      label: 'testCard.noMoney',
    },
    { token: 'pm_card_chargeCustomerFail', card: 'Visa 0341', label: 'testCard.failsLater' },
  ],
  braintree: [
    { token: 'fake-valid-visa-nonce', card: 'Visa 1881', label: 'testCard.works' },
    { token: 'fake-valid-mastercard-nonce', card: 'Mastercard 4444', label: 'testCard.works' },
    { token: 'fake-processor-declined-visa-nonce', card: 'Visa 1115', label: 'testCard.declined' },
    {
      token: 'fake-valid-discover-nonce',
      card: 'Discover 1117',
      label: 'testCard.failsThrice',
      // A charge, and the two retries Braintree makes before it gives up.
      declinesLater: 3,
    },
  ],
}

export function findTestCard(provider: ProviderName, token: string): TestCard | null {
  return TEST_CARDS[provider].find((card) => card.token === token) ?? null
}

/**
 * Replaces the declines that were set up for the customer's previous card with those of this one.
 */
export function setUpDeclines(
  sandbox: BothProviders,
  customerId: string,
  card: TestCard | null,
): void {
  const { trouble } = sandbox
  while (trouble.takeDecline(customerId) !== null);
  for (let left = card?.declinesLater ?? 0; left > 0; left--) {
    trouble.declineNextCharge(customerId, BRAINTREE_DECLINE)
  }
}

/** Sends the person's answer to the sandbox's bank, which believes it. */
export function answerBank(
  { stripe }: BothProviders,
  payment: { readonly id: string },
  approved: boolean,
): void {
  if (approved) stripe.completeAuthentication(payment.id)
  else stripe.failAuthentication(payment.id)
}

/** Makes the sandbox decline the customer's next charge, whatever the card. */
export function failNextCharge(
  sandbox: BothProviders,
  customer: { readonly provider: ProviderName; readonly id: string },
): void {
  const code = { stripe: 'insufficient_funds', braintree: BRAINTREE_DECLINE }[customer.provider]
  sandbox.trouble.declineNextCharge(customer.id, code)
}
