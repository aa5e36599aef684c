import { type Html, html } from '@tollgate/http'
import { findTestCard, getCardBehavior } from '../../payments/test-cards.ts'
import type { PaymentMethodRow } from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { renderHiddenFields } from './page.ts'

/** Test cards offered on the pages, with their behavior. */
const CARDS: ReadonlyArray<readonly [string, string]> = [
  ['pm_card_visa', 'Visa •••• 4242, pays'],
  ['pm_card_mastercard', 'Mastercard •••• 4444, pays'],
  ['pm_card_amex', 'American Express •••• 8431, pays'],
  ['pm_card_threeDSecure2Required', 'Visa •••• 3220, the bank asks (3-D Secure)'],
  ['pm_card_authenticationRequiredOnSetup', 'Visa •••• 3155, the bank asks the first time'],
  ['pm_card_chargeDeclined', 'Visa •••• 0002, is declined'],
  ['pm_card_chargeDeclinedInsufficientFunds', 'Visa •••• 9995, has no money'],
  ['pm_card_chargeCustomerFail', 'Visa •••• 0341, is saved, and declined when charged'],
]

export function describeCard(method: PaymentMethodRow): string {
  const { card } = method
  if (!card) {
    const last4 = method.sepa_debit?.last4 ?? method.us_bank_account?.last4
    return last4 ? `Bank account •••• ${last4}` : method.type
  }
  const brand = card.brand.charAt(0).toUpperCase() + card.brand.slice(1)
  return `${brand} •••• ${card.last4}`
}

/** Test bank accounts offered on the pages, by type of debit. */
const ACCOUNTS: Readonly<Record<string, ReadonlyArray<readonly [string, string]>>> = {
  sepa_debit: [
    ['pm_sepaDebit_successDelayed_de', 'SEPA: DE •••• 3003, pays after three minutes'],
    ['pm_sepaDebit_failedDelayed_de', 'SEPA: DE •••• 3004, fails after three minutes'],
  ],
  us_bank_account: [
    ['pm_usBankAccount_success', 'ACH: US •••• 6789, pays a moment later'],
    ['pm_usBankAccount_insufficientFunds', 'ACH: US •••• 2227, fails a moment later'],
  ],
}

/**
 * Renders a form field to choose a payment method: the customer's saved ones, test cards and, where
 * accepted, test bank accounts.
 */
export function renderCardField(
  saved: readonly PaymentMethodRow[],
  chosen: string | null,
  types: readonly string[] = ['card'],
): Html {
  const option = ([value, name]: readonly [string, string]) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${name}</option>`
  const own = saved.filter(({ type }) => types.includes(type))
  const kept = own.map((method) => option([method.id, describeCard(method)]))
  const cards = types.includes('card') ? CARDS.map(option) : []
  const accounts = types.flatMap((type) => (ACCOUNTS[type] ?? []).map(option))
  return html`<label>${accounts.length > 0 ? 'Card or bank account' : 'Card'} <select name="card">${
    kept.length > 0 || accounts.length > 0
      ? html`${group('Saved', kept)}${group(kept.length > 0 ? 'Another card' : 'Card', cards)}${group('Bank debit', accounts)}`
      : cards
  }</select></label>`
}

function group(label: string, options: readonly Html[]): Html | '' {
  return options.length === 0 ? '' : html`<optgroup label="${label}">${options}</optgroup>`
}

/** Whether the bank requires a 3-D Secure challenge before it accepts this card. */
export function isCardChallenged(work: UnitOfWork, card: string): boolean {
  const saved = work.find('payment_method', card)
  const behavior = saved ? getCardBehavior(saved) : findTestCard(card)?.card.behavior
  return typeof behavior === 'object' && 'challenges' in behavior
}

/**
 * Renders the 3-D Secure challenge between two steps of a form. `fields` keeps the values that the
 * customer typed before.
 */
export function renderChallengeForm(fields: Readonly<Record<string, string>>): Html {
  return html`<section><h1>3-D Secure</h1><p>Your bank asks you to approve this card.</p>
  <form method="post" class="row">${renderHiddenFields(fields)}<button name="challenge" value="complete">Complete</button><button class="quiet" name="challenge" value="fail">Fail</button></form></section>`
}

export const CHALLENGE_FAILED =
  'We are unable to authenticate your payment method. Please choose a different payment method and try again.'
