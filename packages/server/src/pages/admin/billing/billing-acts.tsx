import type { BillingAction } from './action.tsx'
import {
  AmountField,
  CouponField,
  computeRemainingAmount,
  DateField,
  DescriptionField,
  InvoiceDetails,
  PromotionCodeField,
  ReasonField,
  readAmount,
  readDate,
} from './billing-fields.tsx'
import { readCustomer, readInvoice } from './owner-data.ts'

/** The input of an act that needs nothing but the id of the subscription. */
export const buildSubscriptionInput = (_form: URLSearchParams, subscription: string) => ({
  subscription,
})

/** The actions on subscriptions, invoices and the balance, by the last part of the URL path. */
export const BILLING_ACTIONS: Readonly<Record<string, BillingAction>> = {
  sync: { operation: 'billing.sync', done: 'synced' },
  resume: { operation: 'billing.resume', done: 'resumed', input: buildSubscriptionInput },
  cancel: {
    operation: 'billing.cancel',
    done: 'cancelled',
    texts: 'people.cancel',
    input: buildSubscriptionInput,
  },
  'cancel-now': {
    operation: 'billing.cancelNow',
    done: 'ended',
    texts: 'people.cancelNow',
    input: buildSubscriptionInput,
  },
  'extend-trial': {
    operation: 'billing.extendTrial',
    done: 'trial-extended',
    texts: 'people.extendTrial',
    isHarmless: true,
    input: (form, subscription) => ({ subscription, trial_ends_at: readDate(form) }),
    decisions: (view) => <DateField view={view} />,
  },
  coupon: {
    operation: 'billing.applyCoupon',
    done: 'coupon-applied',
    texts: 'people.coupon',
    isHarmless: true,
    input: (form, subscription) => ({ subscription, coupon: form.get('coupon') ?? '' }),
    decisions: ({ form }) => <CouponField value={form?.get('coupon') ?? ''} />,
  },
  'promotion-code': {
    operation: 'billing.applyPromotionCode',
    done: 'coupon-applied',
    texts: 'people.promotionCode',
    isHarmless: true,
    input: (form, subscription) => ({ subscription, code: form.get('code') ?? '' }),
    decisions: ({ form }) => <PromotionCodeField value={form?.get('code') ?? ''} />,
  },
  'remove-discounts': {
    operation: 'billing.removeDiscounts',
    done: 'discounts-removed',
    texts: 'people.removeDiscounts',
    input: buildSubscriptionInput,
  },
  comp: {
    operation: 'billing.comp',
    done: 'comped',
    texts: 'people.comp',
    isHarmless: true,
    input: (form) => ({ until: readDate(form) }),
    decisions: (view) => <DateField view={view} />,
  },
  'end-comp': {
    operation: 'billing.comp',
    done: 'comp-ended',
    texts: 'people.endComp',
    input: () => ({ until: null }),
  },
  credit: {
    operation: 'billing.credit',
    done: 'credited',
    texts: 'people.credit',
    isHarmless: true,
    input: (form) => ({
      amount: readAmount(form),
      ...(form.get('description') && { description: form.get('description') }),
    }),
    async decisions({ c, payer, form }) {
      const customer = await readCustomer(c, payer.owner)
      const { currency } = customer.balance ?? c.get('page').service.config.settings
      return (
        <>
          <AmountField currency={currency} value={form?.get('amount') ?? ''} required />
          <DescriptionField value={form?.get('description') ?? ''} />
        </>
      )
    },
  },
  refund: {
    operation: 'billing.refund',
    done: 'refunded',
    texts: 'people.refund',
    input: (form, invoice) => ({
      invoice,
      ...(form.get('amount')?.trim() && { amount: readAmount(form) }),
      ...(form.get('reason') && { refund_reason: form.get('reason') }),
    }),
    async decisions({ c, payer, object: invoice, form }) {
      const found = await readInvoice(c, payer.owner, invoice)
      return (
        <>
          <InvoiceDetails invoice={found} />
          <AmountField
            currency={found.total.currency}
            value={form?.get('amount') ?? ''}
            rest={computeRemainingAmount(found)}
          />
          <ReasonField value={form?.get('reason') ?? ''} />
        </>
      )
    },
  },
  'void-invoice': {
    operation: 'billing.voidInvoice',
    done: 'invoice-voided',
    texts: 'people.voidInvoice',
    input: (_form, invoice) => ({ invoice }),
    async decisions({ c, payer, object: invoice }) {
      const found = await readInvoice(c, payer.owner, invoice)
      return <InvoiceDetails invoice={found} />
    },
  },
}
