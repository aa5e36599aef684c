import type { Words } from './words.ts'

/** English. */
export const en: Words = {
  invoice: {
    invoice: 'Invoice',
    receipt: 'Receipt',
    number: 'Number',
    date: 'Date',
    billedTo: 'Billed to',
    description: 'Description',
    period: 'Period',
    amount: 'Amount',
    subtotal: 'Subtotal',
    discount: 'Discount',
    tax: 'Tax',
    included: 'included',
    total: 'Total',
    paidFromCredit: 'Paid from credit',
    balanceFromBefore: 'Balance from before',
    amountPaid: 'Amount paid',
    amountDue: 'Amount due',
    page: 'page {page} of {pages}',
    creditNote: 'Credit note',
    forInvoice: 'For invoice',
    refunded: 'Refunded',
    toBalance: 'Added to your credit',
    outside: 'Settled in another way',
    taxId: 'Tax ID',
    reverseCharge: 'Reverse charge',
  },
  mail: {
    greeting: 'Hello {name},',
    hello: 'Hello,',
    closing: 'Kind regards',
    receipt: {
      subject: 'Your receipt from {vendor}',
      text: 'We have received your payment of {amount} for {product}. Thank you.',
    },
    payment_failed: {
      subject: 'Your payment to {vendor} failed',
      text: 'We could not collect {amount} for {product}.',
    },
    action_required: {
      subject: 'Please confirm your payment to {vendor}',
      text: 'Your bank wants you to confirm the payment of {amount} for {product}. It is not complete until you do.',
    },
    trial_ending: {
      subject: 'Your trial of {product} ends on {date}',
      text: 'Your trial of {product} ends on {date}.',
    },
    card_expiring: {
      subject: 'Your card is about to expire',
      text: 'Your card {card} expires at the end of {month}. Please give us another one before then, so that your payments for {product} go on.',
    },
    refunded: {
      subject: 'Your refund from {vendor}',
      text: 'We have given {amount} back to you. It may take some days until you see it in your account.',
    },
    triedAgain:
      'We will try again on {date}. Please see to it that your payment method works by then.',
    lastAttempt: 'Please give us another payment method, so that your subscription can go on.',
    subscriptionFollows: 'Unless you cancel before then, your subscription goes on and is billed.',
    noSubscription: 'If you want to go on using it, please subscribe.',
    changeMethod: 'Update payment method',
    confirm: 'Confirm payment',
    manage: 'Look after your subscription',
  },
}
