import type { ProviderName } from '@tollgate/billing'
import type { BothProviders } from '../../../demo/providers.ts'
import type { PageMessages } from '../../../messages/en.ts'

/** A test card of the sandbox, and how it behaves. */
export interface TestCard {
  readonly token: string
  /** Brand and last four digits of the card. */
  readonly card: string
  /** Id of the page text that describes how the card behaves. */
  readonly label: Extract<keyof PageMessages, `testCard.${string}`>
  /**
   * Number of charges that the sandbox declines after the card was accepted. Not needed at Stripe,
   * whose test cards behave like this themselves.
   */
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
 * Makes the sandbox decline the customer's later charges as the test card requires. Replaces the
 * setup of the customer's previous card.
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

/**
 * Sends the person's answer, approval or rejection of the payment, to the simulated bank of the
 * sandbox.
 */
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
