import type { Story } from '../story.ts'
import { balances } from './balances.ts'
import { captures } from './captures.ts'
import { checkouts } from './checkouts.ts'
import { customers } from './customers.ts'
import { dates } from './dates.ts'
import { items } from './items.ts'
import { plannedSwapStories } from './later.ts'
import { moneyBack } from './money-back.ts'
import { paymentMethods } from './payment-methods.ts'
import { payments } from './payments.ts'
import { promotionCodes } from './promotion-codes.ts'
import { creditNotes, refunds } from './refunds.ts'
import { sentInvoices } from './sent-invoices.ts'
import { starts } from './starts.ts'
import { subscriptions } from './subscriptions.ts'
import { taxes } from './taxes.ts'
import { usage } from './usage.ts'

/** The stories of all features. */
export const STORIES: readonly Story[] = [
  ...subscriptions,
  ...starts,
  ...items,
  ...dates,
  ...plannedSwapStories,
  ...payments,
  ...captures,
  ...checkouts,
  ...sentInvoices,
  ...refunds,
  ...creditNotes,
  ...moneyBack,
  ...balances,
  ...promotionCodes,
  ...paymentMethods,
  ...customers,
  ...taxes,
  ...usage,
]
